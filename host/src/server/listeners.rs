//! The addresses the proxy takes connections on. Opened here and not by Pingora, whose answer to an address in use is to
//! try again for a while and then to panic.

use std::net::{SocketAddr, TcpListener};

/// Connections that wait to be taken: the kernel has its own bound, `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// An address can't be listened on.
#[derive(Debug, thiserror::Error)]
#[error("can't listen on `{address}`: {source}{help}")]
pub struct CannotListen {
    pub address: SocketAddr,
    #[source]
    source: std::io::Error,
    help: &'static str,
}

/// Listens on every address, on all at the same time: two of them may be in each other's way. In the order of the
/// addresses; for a runtime, which wants sockets that don't block.
///
/// # Errors
/// Each address that can't be listened on.
pub(super) fn open(
    addresses: impl IntoIterator<Item = SocketAddr>,
) -> Result<Vec<TcpListener>, Vec<CannotListen>> {
    let mut failed = Vec::new();
    let mut open = Vec::new();
    for address in addresses {
        match listen(address) {
            Ok(listener) => open.push(listener),
            Err(source) => failed.push(cannot(address, source)),
        }
    }
    if failed.is_empty() { Ok(open) } else { Err(failed) }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    // Once more, for more of them than the standard library lets wait.
    rustix::net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn cannot(address: SocketAddr, source: std::io::Error) -> CannotListen {
    let help = match source.kind() {
        std::io::ErrorKind::AddrInUse => {
            "; another process, or another listener of this configuration, has it: `ss -ltnp` shows which \
             process; stop that or choose another port"
        }
        std::io::ErrorKind::PermissionDenied => "; ports below 1024 need CAP_NET_BIND_SERVICE",
        std::io::ErrorKind::AddrNotAvailable => "; no interface of this machine has that address",
        _ => "",
    };
    CannotListen { address, source, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_use_is_named_with_what_to_do() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let failed = open([address]).unwrap_err();
        let text = failed.first().unwrap().to_string();
        assert!(text.contains(&address.to_string()) && text.contains("another process"), "{text}");
        drop(taken);
        assert_eq!(open([address]).unwrap().len(), 1);
        let dual = SocketAddr::new(std::net::Ipv6Addr::UNSPECIFIED.into(), address.port());
        assert!(open([dual, address]).is_err(), "the second is in the way of the first");
    }
}
