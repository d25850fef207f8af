//! A name server on loopback, over UDP and TCP, whose zone a test changes while it runs. RFC 1035.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::origin::start;
use crate::ports::free_address;

const A: u16 = 1;
const AAAA: u16 = 28;
const SRV: u16 = 33;

/// What the server says of a name.
#[derive(Debug, Clone)]
pub struct Answer {
    addresses: Vec<IpAddr>,
    services: Vec<Service>,
    ttl: u32,
    rcode: u8,
    delay: Duration,
    silent: Silence,
    cut: bool,
}

/// An SRV record (RFC 2782).
#[derive(Debug, Clone, Copy)]
pub struct Service {
    pub priority: u16,
    pub weight: u16,
    pub port: u16,
    pub target: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Silence {
    Answers,
    Silent,
}

impl Answer {
    /// These addresses, to be kept for one second.
    pub fn addresses(addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|text| text.parse().expect("an IP address")).collect();
        Self {
            addresses,
            services: Vec::new(),
            ttl: 1,
            rcode: 0,
            delay: Duration::ZERO,
            silent: Silence::Answers,
            cut: false,
        }
    }

    /// These records of a service, to be kept for one second.
    pub fn services(services: &[Service]) -> Self {
        Self { services: services.to_vec(), ..Self::addresses(&[]) }
    }

    /// No such name (RCODE 3), as for every name that the zone doesn't have.
    pub fn no_such_name() -> Self {
        Self { rcode: 3, ..Self::addresses(&[]) }
    }

    /// The server's own failure (RCODE 2).
    pub fn failure() -> Self {
        Self { rcode: 2, ..Self::addresses(&[]) }
    }

    /// The server does not answer for that name (RCODE 5).
    pub fn refusal() -> Self {
        Self { rcode: 5, ..Self::addresses(&[]) }
    }

    /// No answer at all.
    pub fn silence() -> Self {
        Self { silent: Silence::Silent, ..Self::addresses(&[]) }
    }

    /// Time to live, in seconds.
    #[must_use]
    pub fn ttl(mut self, seconds: u32) -> Self {
        self.ttl = seconds;
        self
    }

    /// Over UDP, it is said to be too long (TC) and left out.
    #[must_use]
    pub fn cut_over_udp(mut self) -> Self {
        self.cut = true;
        self
    }

    /// How late the answer comes.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

/// The server. Its threads end with the process.
#[derive(Debug)]
pub struct Dns {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    zone: HashMap<String, Answer>,
    queries: Vec<Query>,
}

#[derive(Debug)]
struct Query {
    name: String,
    over: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Udp,
    Tcp,
}

impl Dns {
    /// A server that knows these names, without final dot.
    pub fn start(zone: &[(&str, Answer)]) -> Self {
        let address = free_address();
        let udp = UdpSocket::bind(address).expect("a free port");
        let tcp = TcpListener::bind(address).expect("a free port");
        let zone = zone.iter().map(|(name, answer)| ((*name).to_owned(), answer.clone())).collect();
        let state = Arc::new(Mutex::new(State { zone, queries: Vec::new() }));
        let (over_udp, over_tcp) = (Arc::clone(&state), Arc::clone(&state));
        start("dns over udp", move || serve_udp(udp, &over_udp));
        start("dns over tcp", move || {
            while let Ok((stream, _)) = tcp.accept() {
                let _ = serve_tcp(stream, &over_tcp);
            }
        });
        Self { address, state }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes what the server says from now on.
    pub fn set(&self, name: &str, answer: Answer) {
        lock(&self.state).zone.insert(name.to_owned(), answer);
    }

    /// How often it was asked for that name, of any type.
    pub fn asked(&self, name: &str) -> usize {
        lock(&self.state).queries.iter().filter(|query| query.name == name).count()
    }

    /// How often that was over TCP.
    pub fn asked_over_tcp(&self, name: &str) -> usize {
        let queries = &lock(&self.state).queries;
        queries.iter().filter(|query| query.name == name && query.over == Transport::Tcp).count()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve_udp(socket: UdpSocket, state: &Arc<Mutex<State>>) {
    let mut packet = [0; 4096];
    while let Ok((read, from)) = socket.recv_from(&mut packet) {
        let query = packet.iter().take(read).copied().collect::<Vec<_>>();
        let (state, socket) = (Arc::clone(state), socket.try_clone());
        // A slow answer must not hold up the next one.
        start("dns answer", move || {
            if let (Some(answer), Ok(socket)) = (answer(&query, &state, Transport::Udp), socket) {
                let _ = socket.send_to(&answer, from);
            }
        });
    }
}

fn serve_tcp(mut stream: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut query)?;
    if let Some(answer) = answer(&query, state, Transport::Tcp) {
        let length = u16::try_from(answer.len()).unwrap_or(u16::MAX);
        stream.write_all(&[&length.to_be_bytes(), answer.as_slice()].concat())?;
    }
    Ok(())
}

fn answer(query: &[u8], state: &Mutex<State>, over: Transport) -> Option<Vec<u8>> {
    let (name, kind, question) = question(query)?;
    let said = {
        let mut state = lock(state);
        state.queries.push(Query { name: name.clone(), over });
        state.zone.get(&name).cloned().unwrap_or_else(Answer::no_such_name)
    };
    // The one sleep of the kit: being slow is what this server was told to be.
    std::thread::sleep(said.delay);
    if said.silent == Silence::Silent {
        return None;
    }
    let cut = said.cut && over == Transport::Udp;
    let records: Vec<Vec<u8>> = said
        .addresses
        .iter()
        .filter(|_| !cut)
        .filter_map(|address| match address {
            IpAddr::V4(v4) if kind == A => Some(v4.octets().to_vec()),
            IpAddr::V6(v6) if kind == AAAA => Some(v6.octets().to_vec()),
            _ => None,
        })
        .chain(said.services.iter().filter(|_| kind == SRV).map(service))
        .collect();
    // Response, authoritative, recursion desired and available; the code in the lowest bits.
    let flags = 0x8580_u16 | u16::from(said.rcode) | if cut { 0x0200 } else { 0 };
    let count = u16::try_from(records.len()).ok()?;
    let mut out = query.get(..2)?.to_vec();
    for number in [flags, 1, count, 0, 0] {
        out.extend(number.to_be_bytes());
    }
    out.extend(question);
    for data in records {
        // A pointer to the name of the question, type, class IN.
        for number in [0xc00c, kind, 1] {
            out.extend(number.to_be_bytes());
        }
        out.extend(said.ttl.to_be_bytes());
        out.extend(u16::try_from(data.len()).ok()?.to_be_bytes());
        out.extend(data);
    }
    Some(out)
}

fn service(record: &Service) -> Vec<u8> {
    let mut data = Vec::new();
    for number in [record.priority, record.weight, record.port] {
        data.extend(number.to_be_bytes());
    }
    for label in record.target.split('.') {
        data.push(u8::try_from(label.len()).unwrap_or(u8::MAX));
        data.extend(label.bytes());
    }
    data.push(0);
    data
}

/// Name, type and bytes of the first question.
fn question(query: &[u8]) -> Option<(String, u16, &[u8])> {
    let mut at = 12;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_ascii_lowercase());
        at += length;
    }
    let kind = u16::from_be_bytes([*query.get(at)?, *query.get(at + 1)?]);
    Some((labels.join("."), kind, query.get(12..at + 4)?))
}
