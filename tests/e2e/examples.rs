//! Every directory of `examples/` is served: its own configuration, with nothing changed but addresses.

use std::path::Path;

use edgewright_tests::component::repository;
use edgewright_tests::ports::free_address;
use edgewright_tests::{Origin, Proxy, edgewright, plugin};
use toml::{Table, Value};

#[test]
fn every_example_is_checked_and_serves() {
    let Ok(directory) = std::fs::read_dir(repository().join("examples")) else { return };
    for entry in directory {
        let path = entry.expect("an entry").path();
        if path.join("edgewright.toml").is_file() {
            serve(&path);
        }
    }
}

/// Copies the example, fills its plugins directory with the shipped plugins it names, moves it to free
/// ports, checks it, and asks it for something.
fn serve(example: &Path) {
    let name = example.display();
    let origin = Origin::body("from the origin");
    let directory = tempfile::tempdir().expect("a directory");
    copy(example, directory.path());
    let file = directory.path().join("edgewright.toml");
    let text = std::fs::read_to_string(&file).expect("a configuration");
    let mut config: Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));

    // A shared plugins directory elsewhere becomes one of the copy.
    let plugins = directory.path().join("plugins");
    std::fs::create_dir_all(&plugins).expect("a directory");
    config
        .insert("plugins".to_owned(), Table::from_iter([("dir".to_owned(), Value::from("plugins"))]).into());
    for used in plugin_names(&config) {
        let manifest = repository().join(format!("plugins/{used}/{used}.toml"));
        std::fs::write(plugins.join(format!("{used}.wasm")), plugin(&used).bytes()).expect("a file");
        if manifest.is_file() && !plugins.join(format!("{used}.toml")).exists() {
            std::fs::copy(manifest, plugins.join(format!("{used}.toml"))).expect("a file");
        }
    }
    let (address, admin) = (free_address(), free_address());
    move_to(&mut config, &address.to_string(), &admin.to_string(), &origin.address().to_string());
    std::fs::write(&file, config.to_string()).expect("a file");
    let checked = edgewright(&["check", "edgewright.toml"], directory.path());
    assert_eq!(checked.code, Some(0), "{name}:\n{}", checked.said());

    let proxy = Proxy::start(&["run", "--config", "edgewright.toml"], directory, address, Some(admin));
    let response = proxy.get("/");
    assert!(response.status < 500, "{name}: {}\n{}", response.status, response.text());
}

fn plugin_names(config: &Table) -> Vec<String> {
    let routes = config.get("routes").and_then(Value::as_array).into_iter().flatten();
    let used = routes.filter_map(|route| route.get("plugins").and_then(Value::as_array)).flatten();
    used.filter_map(|one| one.as_str().or_else(|| one.get("name").and_then(Value::as_str)))
        .map(str::to_owned)
        .collect()
}

fn move_to(config: &mut Table, address: &str, admin: &str, origin: &str) {
    let listeners = config.get_mut("listeners").and_then(Value::as_array_mut).expect("listeners");
    listeners.truncate(1);
    for listener in listeners.iter_mut().filter_map(Value::as_table_mut) {
        listener.insert("address".to_owned(), address.into());
    }
    let upstreams = config.get_mut("upstreams").and_then(Value::as_table_mut).expect("upstreams");
    for (_, upstream) in upstreams.iter_mut() {
        if let Some(upstream) = upstream.as_table_mut() {
            upstream.insert("peers".to_owned(), vec![origin.to_owned()].into());
        }
    }
    config.insert("admin".to_owned(), Table::from_iter([("address".to_owned(), Value::from(admin))]).into());
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file");
        }
    }
}
