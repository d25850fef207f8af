//! Does to the path in `x-path` what `x-do` says, and answers with what came of it: the bytes of a file, the names
//! in a directory, or the error.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};

use edgewright_sdk::prelude::*;

struct Files {
    /// What `configure` read of `list.txt`.
    list: String,
}

#[plugin]
impl Plugin for Files {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        let list = fs::read_to_string("list.txt").map_err(|error| error.kind().to_string())?;
        Ok(Self { list })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let text =
            |name| request.header(name).map(|value| value.to_str_lossy().into_owned()).unwrap_or_default();
        let path = text("x-path");
        let done = match text("x-do").as_str() {
            "configured" => Ok(self.list.clone()),
            "read" => fs::read_to_string(&path),
            "list" => list(&path),
            "size" => fs::metadata(&path).map(|found| found.len().to_string()),
            "write" => fs::write(&path, "x").map(|()| String::new()),
            "append" => append(&path),
            "remove" => fs::remove_file(&path).map(|()| String::new()),
            "make" => fs::create_dir(&path).map(|()| String::new()),
            "rename" => fs::rename(&path, "other").map(|()| String::new()),
            other => Err(io::Error::other(other.to_owned())),
        };
        match done {
            Ok(text) => Response::new(200).body(text).into(),
            Err(error) => Response::new(403).body(error.to_string()).into(),
        }
    }
}

fn list(path: &str) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join(" "))
}

fn append(path: &str) -> io::Result<String> {
    OpenOptions::new().append(true).open(path)?.write_all(b"x")?;
    Ok(String::new())
}
