//! A configuration file, from its path to the checked model: splits it into its sections and has each of
//! them read and checked.

use std::net::SocketAddr;
use std::path::Path;

use super::check::{self, Shelf, Taken};
use super::diagnostic::{Diagnostic, Severity};
use super::model::Config;
use super::root::{Root, Taking};
use super::scope::Scope;
use super::{Checked, defaults, raw, shown, source, syntax};

/// Reads and checks a configuration file with all that it names but the components themselves.
///
/// # Errors
/// All mistakes, in the order of their places, with the warnings among them.
pub fn load(path: &Path) -> Result<Checked, Vec<Diagnostic>> {
    let file = source::read(path).map_err(|found| vec![without_file(found)])?;
    let tree = syntax::parse(&file).map_err(|found| vec![found])?;
    let mut scope = Scope::new(file.clone());
    let mut config = checked(&mut scope, Root::new(tree), path);
    let mut found = scope.into_found();
    found.sort_by_cached_key(|diagnostic| order(diagnostic, path));
    if found.iter().any(|found| found.severity == Severity::Error) {
        return Err(found);
    }
    config.shown = shown::of(&file, &config.plugins);
    Ok(Checked { config, warnings: found })
}

/// The admin address of a configuration file, whatever else is wrong in it: where a proxy that runs with an earlier
/// form of it can be asked. `None` where it has none that can be read.
pub fn admin_address(path: &Path) -> Option<SocketAddr> {
    let file = source::read(path).ok()?;
    let tree = syntax::parse(&file).ok()?;
    let mut scope = Scope::new(file.clone());
    match Root::new(tree).section(&mut scope, "admin") {
        Taking::Read(span, section) => {
            check::admin(&mut scope, &mut Taken::default(), span, section).map(|admin| admin.address)
        }
        Taking::Absent | Taking::Failed => None,
    }
}

fn without_file(found: Diagnostic) -> Diagnostic {
    match found.help {
        None => found.with_help("`edgewright proxy --to HOST:PORT` needs no file"),
        Some(_) => found,
    }
}

/// The configuration file first, then the others by path; within a file by place.
fn order(diagnostic: &Diagnostic, main: &Path) -> impl Ord + use<> {
    diagnostic.place.as_ref().map(|place| {
        let path = &place.file.path;
        (path != main, path.clone(), place.start, place.end)
    })
}

fn checked(scope: &mut Scope, mut root: Root<'_>, path: &Path) -> Config {
    root.refuse_unknown(scope);
    let base = path.parent().unwrap_or(Path::new(""));
    let mut taken = Taken::default();

    let before = scope.errors();
    let server = root.table(scope, "server");
    let server = check::server(scope, server);
    // What a wrong section would have said, is open.
    let told_server = (scope.errors() == before).then_some(&server);
    let dns = root.table(scope, "dns");
    let dns = check::dns(scope, dns);
    let listeners = root.list(scope, "listeners");
    let listeners = check::listeners(scope, &mut taken, &server, base, listeners);
    let admin = match root.section(scope, "admin") {
        Taking::Read(span, section) => check::admin(scope, &mut taken, span, section),
        _ => None,
    };
    let upstreams = root.upstreams(scope, &taken, base);
    let (mut shelf, plugin_cache) = match root.section::<raw::Plugins>(scope, "plugins") {
        Taking::Read(_, section) => {
            let cache =
                scope.value(section.value.cache, check::default_cache(), |value| check::cache(value, base));
            (Shelf::open(scope, section.value.dir, path), cache)
        }
        Taking::Absent => (Shelf::open(scope, None, path), check::default_cache()),
        Taking::Failed => (Shelf::unknown(), None),
    };
    let routes = root.list(scope, "routes");
    let routes = check::routes(scope, routes, told_server, &upstreams, &mut shelf, base);
    let access_log = match root.section(scope, "access-log") {
        Taking::Read(_, section) => check::access_log(scope, section.value, base),
        _ => Some(defaults::access_log()),
    };
    let plugin_dir = shelf.dir().to_owned();
    let (plugins, unused_plugins) = shelf.into_parts();
    let upstreams = upstreams.table;
    Config {
        server,
        dns,
        listeners,
        upstreams,
        plugins,
        unused_plugins,
        routes,
        access_log,
        admin,
        shown: serde_json::Value::Null,
        plugin_dir: Some(plugin_dir),
        plugin_cache,
    }
}
