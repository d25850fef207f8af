//! Instances made before the first request, so that none has to wait for them: after a load, before the plugin
//! serves. Must not know who loads.

use std::time::Instant;

use super::configuration::ConfigId;
use super::loaded::Plugin;
use super::probe;
use super::setup;

impl Plugin {
    /// Makes what the workers will ask for first, told these configurations. Once for each plugin: what was
    /// loaded before has its instances. Ends at `until`; what is missing then is made when a request needs it.
    /// Blocks.
    pub fn warm(&self, configs: &[ConfigId], until: Instant) {
        if configs.is_empty() {
            return;
        }
        let wanted = self.pool().open_nursery();
        if wanted == 0 {
            return;
        }
        let made = probe::run(self.blueprint().engine(), async {
            for _ in 0..wanted {
                if Instant::now() >= until {
                    break;
                }
                self.pool().nurse(setup::ahead(self, configs).await?);
            }
            Ok(())
        });
        match made {
            Ok(Ok(())) => {}
            // One was made and told all of it a moment ago: it is not refused for that.
            Ok(Err(failed)) => self.not_made_ahead(&failed),
            Err(error) => tracing::warn!(plugin = self.name(), %error, "no instances are made ahead"),
        }
    }
}
