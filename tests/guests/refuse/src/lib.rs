//! Takes no configuration well: refuses it, panics or never returns, as it says.

use edgewright_sdk::prelude::*;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    how: How,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum How {
    Accept,
    Error,
    Panic,
    Loop,
}

pub struct Refuse;

#[plugin]
impl Plugin for Refuse {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        match config.how {
            How::Accept => Ok(Self),
            How::Error => Err("`how` must be `accept` for this one".to_owned()),
            How::Panic => panic!("no configuration is good enough"),
            How::Loop => loop {
                std::hint::spin_loop();
            },
        }
    }

    fn on_request(&self, _: &mut Request) -> Verdict {
        Verdict::Next
    }
}
