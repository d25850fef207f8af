//! Where the built things are: the proxy's binary and the components of guests and shipped plugins. They
//! are built by `make test` before the tests; nothing is built here.

use std::path::{Path, PathBuf};

/// What plugins are built for. The profile is `plugin`.
const TARGET: &str = "wasm32-wasip2";

/// What a plugin's file is filled with.
#[derive(Debug, Clone)]
pub enum Component {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Component {
    /// # Panics
    /// The file isn't there.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Component::File(path) => std::fs::read(path).unwrap_or_else(|error| {
                panic!("`{}`: {error}; run `make test`, which builds it", path.display())
            }),
            Component::Bytes(bytes) => bytes.clone(),
        }
    }
}

impl From<&[u8]> for Component {
    fn from(bytes: &[u8]) -> Self {
        Component::Bytes(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Component {
    fn from(bytes: Vec<u8>) -> Self {
        Component::Bytes(bytes)
    }
}

/// The guest of `tests/guests` that has this behaviour.
pub fn guest(behaviour: &str) -> Component {
    component(&format!("guest-{behaviour}"))
}

/// The shipped plugin of `plugins/` that has this name.
pub fn plugin(name: &str) -> Component {
    component(name)
}

fn component(package: &str) -> Component {
    let file = format!("{}.wasm", package.replace('-', "_"));
    Component::File(target_directory().join(TARGET).join("plugin").join(file))
}

/// The binary under test: `$EDGEWRIGHT_BIN`, or the one that was built beside this test.
///
/// # Panics
/// There is none.
pub fn binary() -> PathBuf {
    let path = match std::env::var_os("EDGEWRIGHT_BIN") {
        Some(path) => PathBuf::from(path),
        None => profile_directory().join("edgewright"),
    };
    assert!(path.is_file(), "no proxy at `{}`: run `make test`, which builds it", path.display());
    path
}

/// Kept between runs, so that a component is compiled once and not once a test.
pub fn cache_directory() -> PathBuf {
    target_directory().join("edgewright-tests/cache")
}

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in the repository")
}

/// `target/debug`, where a test's file is `target/debug/deps/…`.
fn profile_directory() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    test.ancestors().nth(2).expect("a test is two directories down").to_path_buf()
}

fn target_directory() -> PathBuf {
    profile_directory().parent().expect("the profile's directory is in another").to_path_buf()
}
