//! How a call fails, in one word, and what the client is answered for it. Knows no call.

use http::StatusCode;

/// How a call failed. Also the `reason` label of the trap metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The guest trapped or panicked.
    Trap,
    /// The time limit of a call was reached.
    TimeLimit,
    /// The memory limit of an instance was reached, and the guest trapped on it.
    MemoryLimit,
    /// The guest's stack ran out.
    StackLimit,
    /// The host-call budget of a call was used up.
    HostCallLimit,
    /// No instance was free, and none became so in the time that a call queues.
    PoolExhausted,
    /// An instance could not be made, or refused a configuration that it had taken before.
    Instantiate,
    /// The verdict broke the contract (status, header or body of its response): answered with 500.
    BadResponse,
    /// The host itself panicked inside a host call.
    HostPanic,
    /// It was not called: it failed too often before.
    Quarantined,
}

impl Failure {
    /// Every failure.
    pub const ALL: [Failure; 10] = [
        Failure::Trap,
        Failure::TimeLimit,
        Failure::MemoryLimit,
        Failure::StackLimit,
        Failure::HostCallLimit,
        Failure::PoolExhausted,
        Failure::Instantiate,
        Failure::BadResponse,
        Failure::HostPanic,
        Failure::Quarantined,
    ];

    /// The word in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Trap => "trap",
            Failure::TimeLimit => "time-limit",
            Failure::MemoryLimit => "memory-limit",
            Failure::StackLimit => "stack-limit",
            Failure::HostCallLimit => "host-call-limit",
            Failure::PoolExhausted => "plugin-busy",
            Failure::Instantiate => "instantiate",
            Failure::BadResponse => "bad-response",
            Failure::HostPanic => "host-panic",
            Failure::Quarantined => "quarantined",
        }
    }

    /// What the client is answered where `on-failure` is `closed`.
    pub fn status(self) -> StatusCode {
        match self {
            // Trying again later does not help.
            Failure::BadResponse | Failure::HostPanic => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
