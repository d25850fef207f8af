//! WIT `log`. Must not know the log itself: [`Voice`](crate::plugin::voice::Voice) does.

use crate::plugin::bindings::log;
use crate::plugin::convert;
use crate::plugin::store::State;

impl log::Host for State {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.charge()?;
        self.voice.say(convert::level(level), self.request_id(), &message);
        Ok(())
    }
}
