//! Ports that nothing listens on. They are taken from below the range that the system gives to outgoing
//! connections, so that none of those takes one between here and the proxy's `bind`.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Ports are reserved by a socket on this address, which nothing else uses: between here and the proxy's `bind`
/// (a plugin may have to be compiled first) no other test takes the same one.
const GUARD: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 77);

/// What this process has reserved, until it ends.
static RESERVED: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// An address on loopback that is free, and that no test is given but this one.
///
/// # Panics
/// None is free.
pub fn free_address() -> SocketAddr {
    // Test processes that run side by side begin at different places.
    let offset = std::process::id().wrapping_mul(137);
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(FIRST + offset.wrapping_add(step) % COUNT).expect("below 65536");
        let Ok(guard) = UdpSocket::bind((GUARD, port)) else { continue };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            RESERVED.lock().expect("no panic while it is held").push(guard);
            return address;
        }
    }
    panic!("no free port from {FIRST} to {}", FIRST + COUNT);
}
