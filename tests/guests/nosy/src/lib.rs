//! Looks around: how much it finds of the machine goes into headers.

use std::io::Read as _;
use std::time::{Duration, Instant, SystemTime};

use edgewright_sdk::prelude::*;

pub struct Nosy;

#[plugin]
impl Plugin for Nosy {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let files = ["/", ".", "/etc/passwd", "/proc/self/environ"];
        let files = files.iter().filter(|path| std::fs::metadata(path).is_ok()).count();
        let mut input = Vec::new();
        let input = std::io::stdin().read_to_end(&mut input).unwrap_or_default();
        let clock = Instant::now().elapsed() < Duration::from_secs(1)
            && SystemTime::UNIX_EPOCH.elapsed().is_ok_and(|since| since > Duration::from_secs(1_000_000_000));
        for (header, found) in [
            ("x-environment", std::env::vars_os().count().to_string()),
            ("x-arguments", std::env::args_os().count().to_string()),
            ("x-files", files.to_string()),
            ("x-input", input.to_string()),
            ("x-clock", clock.to_string()),
        ] {
            let _ = request.set_header(header, found);
        }
        Verdict::Next
    }
}
