//! Between the exported functions and a [`Plugin`]: the values by configuration id, and the calls. Used by
//! `#[plugin]`, not by authors. Must not panic: a panic costs the instance.

use std::cell::RefCell;

use crate::configuration::configure;
use crate::{Plugin, log};

#[cfg(target_arch = "wasm32")]
mod component;
#[cfg(target_arch = "wasm32")]
pub use component::{Export, Hosted};

/// The values of one plugin in one instance, by configuration id.
#[derive(Debug)]
pub struct Instances<P>(RefCell<Vec<Option<P>>>);

impl<P> Default for Instances<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> Instances<P> {
    /// None yet.
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }
}

impl<P: Plugin> Instances<P> {
    /// Makes and keeps the value for `id`.
    ///
    /// # Errors
    /// What is wrong with the configuration, or that there is no memory for one more.
    pub fn configure(&self, id: u32, json: &str) -> Result<(), String> {
        let plugin = configure(json)?;
        let index = usize::try_from(id).map_err(|_| NO_ROOM)?;
        let mut all = self.0.try_borrow_mut().map_err(|_| NO_ROOM)?;
        let missing = index.saturating_add(1).saturating_sub(all.len());
        all.try_reserve(missing).map_err(|_| NO_ROOM)?;
        if missing > 0 {
            all.resize_with(index.saturating_add(1), || None);
        }
        if let Some(place) = all.get_mut(index) {
            *place = Some(plugin);
        }
        Ok(())
    }

    /// Calls a phase with the value for `id`; `None` where it was never configured.
    pub fn with<T>(&self, id: u32, phase: impl FnOnce(&P) -> T) -> Option<T> {
        let all = self.0.try_borrow().ok()?;
        match usize::try_from(id).ok().and_then(|index| all.get(index)) {
            Some(Some(plugin)) => Some(phase(plugin)),
            _ => {
                log::error!("called with configuration {id}, which was never announced");
                None
            }
        }
    }
}

const NO_ROOM: &str = "no room for one more configuration in this instance";

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo(u8);

    impl Plugin for Echo {
        type Config = u8;

        fn configure(config: u8) -> Result<Self, String> {
            if config == 0 { Err("`0` is no echo".to_owned()) } else { Ok(Self(config)) }
        }
    }

    #[test]
    fn a_phase_gets_the_value_of_its_configuration() {
        let instances = Instances::<Echo>::new();
        assert_eq!(instances.configure(2, "7"), Ok(()));
        assert_eq!(instances.configure(0, "8"), Ok(()));
        assert_eq!(instances.configure(1, "0"), Err("`0` is no echo".to_owned()));
        let value = |id| instances.with(id, |echo| echo.0);
        assert_eq!([0, 1, 2, 3, u32::MAX].map(value), [Some(8), None, Some(7), None, None]);
    }
}
