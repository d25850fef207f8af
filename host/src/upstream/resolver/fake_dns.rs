//! A name server for tests, on loopback over UDP: answers from a table that a test changes as it goes.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_resolver::proto::op::{Message, OpCode, ResponseCode};
use hickory_resolver::proto::rr::rdata::CNAME;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::net::UdpSocket;

/// What is answered for a name, whatever is asked of it.
#[derive(Clone)]
pub(super) enum Reply {
    /// Addresses of the kind that is asked for, with a TTL in seconds; NODATA for the other kind.
    Records(Vec<IpAddr>, u32),
    Code(ResponseCode),
    /// An alias for a name of the table.
    Alias(&'static str),
    /// Bytes that are no message, behind a valid id.
    Garbage,
    Silence,
    After(Duration, Box<Reply>),
}

#[derive(Clone)]
pub(super) struct FakeDns {
    pub(super) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    zone: HashMap<String, Reply>,
    asked: HashMap<(String, RecordType), usize>,
}

impl FakeDns {
    /// Starts on the current runtime, and ends with it. Names that are not in the table don't exist.
    pub(super) async fn start() -> Self {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.expect("a socket"));
        let address = socket.local_addr().expect("an address");
        let dns = Self { address, state: Arc::default() };
        let server = dns.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 1500];
            while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
                let Some(query) = buffer.get(..length).and_then(|bytes| Message::from_vec(bytes).ok()) else {
                    continue;
                };
                let (server, socket) = (server.clone(), Arc::clone(&socket));
                tokio::spawn(async move {
                    if let Some(bytes) = server.answer(&query).await {
                        let _ = socket.send_to(&bytes, client).await;
                    }
                });
            }
        });
        dns
    }

    pub(super) fn set(&self, name: &str, reply: Reply) {
        self.state.lock().expect("the state").zone.insert(format!("{name}."), reply);
    }

    /// How often a kind of records of a name was asked for.
    pub(super) fn asked(&self, name: &str, record_type: RecordType) -> usize {
        let key = (format!("{name}."), record_type);
        self.state.lock().expect("the state").asked.get(&key).copied().unwrap_or_default()
    }

    async fn answer(&self, query: &Message) -> Option<Vec<u8>> {
        let question = query.queries.first()?;
        let name = question.name().to_string();
        let mut reply = {
            let mut state = self.state.lock().expect("the state");
            *state.asked.entry((name.clone(), question.query_type())).or_default() += 1;
            state.zone.get(&name).cloned().unwrap_or(Reply::Code(ResponseCode::NXDomain))
        };
        while let Reply::After(delay, later) = reply {
            tokio::time::sleep(delay).await;
            reply = *later;
        }
        let mut message = Message::response(query.id, OpCode::Query);
        message.add_query(question.clone());
        match reply {
            Reply::Records(addresses, ttl) => {
                let kind = addresses.into_iter().map(RData::from);
                let kind = kind.filter(|data| data.record_type() == question.query_type());
                message.add_answers(kind.map(|data| Record::from_rdata(question.name().clone(), ttl, data)));
            }
            Reply::Code(code) => message.metadata.response_code = code,
            Reply::Alias(target) => {
                let target = Name::from_ascii(target).expect("a name");
                let data = RData::CNAME(CNAME(target));
                message.add_answer(Record::from_rdata(question.name().clone(), 1, data));
            }
            Reply::Garbage => {
                let mut bytes = query.id.to_be_bytes().to_vec();
                bytes.extend([0xff; 40]);
                return Some(bytes);
            }
            Reply::Silence | Reply::After(..) => return None,
        }
        message.to_vec().ok()
    }
}
