//! Load at a constant rate: requests are due at fixed times, whether or not those before them were answered, and each is
//! timed from when it was due. A proxy that stops for a moment is charged with all that came meanwhile (no coordinated
//! omission). Knows no proxy.

mod client;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};

use crate::contender::Target;

use client::Client;

/// Between two looks at what is due: often enough to be nothing beside the latencies, and seldom enough to cost little.
const TICK_NANOSECONDS: i64 = 100_000;

/// How long the last answers are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What marks the timer among the events; clients have their places.
const TIMER: u64 = u64::MAX;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) connections: usize,
    /// Requests a second.
    pub(crate) rate: f64,
    pub(crate) time: Duration,
}

/// The times of all requests, from when each was due to its last byte; the shortest first.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    /// In milliseconds; of so many in a thousand.
    pub(crate) fn permille(&self, permille: usize) -> f64 {
        let at = (self.0.len() * permille / 1000).min(self.0.len().saturating_sub(1));
        self.0.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }

    /// How many were at least that long, in percent.
    pub(crate) fn share_above(&self, least: Duration) -> f64 {
        let above = self.0.iter().filter(|time| **time >= least).count();
        above as f64 * 100.0 / self.0.len().max(1) as f64
    }
}

/// Asks `target` at that pace.
///
/// # Errors
/// Where a connection fails, a status is not 200, or the answers do not come.
pub(crate) async fn run(target: &Target, pace: Pace) -> Result<Latencies> {
    let request = request(target);
    let address = target.address;
    tokio::task::spawn_blocking(move || Run::start(address, request, pace)?.finish()).await?
}

fn request(target: &Target) -> Vec<u8> {
    let mut head = format!("GET {} HTTP/1.1\r\n", target.path);
    if !target.headers.iter().any(|(name, _)| name == "host") {
        head.push_str(&format!("host: {}\r\n", target.address));
    }
    for (name, value) in &target.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

struct Run {
    pace: Pace,
    request: Vec<u8>,
    events: rustix::fd::OwnedFd,
    timer: rustix::fd::OwnedFd,
    clients: Vec<Client>,
    /// Clients with nothing to wait for; the one that has rested longest is next.
    idle: VecDeque<usize>,
    /// Requests that are due and have no client.
    late: VecDeque<Instant>,
    times: Vec<Duration>,
}

impl Run {
    fn start(address: SocketAddr, request: Vec<u8>, pace: Pace) -> Result<Self> {
        let events = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        epoll::add(&events, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
        let mut clients = Vec::with_capacity(pace.connections);
        for place in 0..pace.connections {
            let client = Client::connect(address)?;
            let mark = epoll::EventData::new_u64(place as u64);
            epoll::add(&events, client.stream(), mark, epoll::EventFlags::IN)?;
            clients.push(client);
        }
        let idle = (0..pace.connections).collect();
        Ok(Self { pace, request, events, timer, clients, idle, late: VecDeque::new(), times: Vec::new() })
    }

    fn finish(mut self) -> Result<Latencies> {
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK_NANOSECONDS };
        let ticks = Itimerspec { it_interval: tick, it_value: tick };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &ticks)?;
        let all = (self.pace.rate * self.pace.time.as_secs_f64()) as usize;
        let began = Instant::now();
        let mut sent = 0;
        let mut events = Vec::with_capacity(1024);
        while self.times.len() < all {
            let now = Instant::now();
            while sent < all {
                let due = began + Duration::from_secs_f64(sent as f64 / self.pace.rate);
                if due > now {
                    break;
                }
                sent += 1;
                match self.idle.pop_front() {
                    Some(place) => self.send(place, due)?,
                    None => self.late.push_back(due),
                }
            }
            if now > began + self.pace.time + PATIENCE {
                bail!("void: {} of {all} requests have no answer", all - self.times.len());
            }
            events.clear();
            let longest = Timespec { tv_sec: 1, tv_nsec: 0 };
            epoll::wait(&self.events, spare_capacity(&mut events), Some(&longest))?;
            for event in &events {
                match event.data.u64() {
                    TIMER => {
                        // How often it came does not matter; that it is read makes it come again.
                        let _ = rustix::io::read(&self.timer, &mut [0; 8]);
                    }
                    place => self.hear(usize::try_from(place)?)?,
                }
            }
        }
        self.times.sort_unstable();
        Ok(Latencies(self.times))
    }

    fn send(&mut self, place: usize, due: Instant) -> Result<()> {
        self.clients.get_mut(place).context("no such client")?.send(&self.request, due)
    }

    fn hear(&mut self, place: usize) -> Result<()> {
        let Some(answer) = self.clients.get_mut(place).context("no such client")?.read()? else {
            return Ok(());
        };
        ensure!(answer.status == 200, "void: status {}", answer.status);
        self.times.push(answer.due.elapsed());
        match self.late.pop_front() {
            Some(due) => self.send(place, due)?,
            None => self.idle.push_back(place),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permilles_are_of_the_sorted_times() {
        let check = |count: u64, permille: usize, expected: f64| {
            let latencies = Latencies((1..=count).map(Duration::from_millis).collect());
            assert!((latencies.permille(permille) - expected).abs() < 1e-9, "{count}, {permille}");
        };
        check(1000, 500, 501.0);
        check(1000, 990, 991.0);
        check(10, 999, 10.0);
        check(0, 500, 0.0);
        let ten = Latencies((1..=10).map(Duration::from_millis).collect());
        assert!((ten.share_above(Duration::from_millis(10)) - 10.0).abs() < 1e-9);
    }
}
