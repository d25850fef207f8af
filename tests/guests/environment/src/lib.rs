//! Answers with all that it sees of the process around it: environment, arguments, standard input, files.

use std::io::Read;

use edgewright_sdk::prelude::*;

pub struct Environment;

#[plugin]
impl Plugin for Environment {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, _: &mut Request) -> Verdict {
        let variables: Vec<_> = std::env::vars().collect();
        let arguments: Vec<_> = std::env::args().collect();
        let mut input = String::new();
        let read = std::io::stdin().read_to_string(&mut input).is_ok();
        let file = std::fs::read("/etc/passwd").is_ok() || std::fs::read_dir("/").is_ok();
        let body = format!("{variables:?} {arguments:?} {read} {input:?} {file}");
        Response::new(200).body(body).into()
    }
}
