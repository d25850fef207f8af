//! An instance made ready for a call: made, and told the configuration. Where that fails again and again, it
//! is left off for a while. Must not know phases.

use std::borrow::Cow;

use super::configuration::ConfigId;
use super::failure::Ended;
use super::instance::Instance;
use super::limits::time::TimeLimit;
use super::loaded::Plugin;
use super::pool::Seat;

/// What there is to begin with.
pub(super) enum From {
    /// An instance that does not know the configuration.
    Idle(Box<Instance>),
    Nothing(Seat),
}

/// Why there is no instance: for the log.
#[derive(Debug)]
pub(super) enum Unready {
    /// It failed before, and is not tried now.
    Paused,
    Failed {
        detail: String,
        backtrace: String,
    },
}

impl Unready {
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::Paused => {
                "no instance could be set up some times in a row; it is tried again after a pause"
            }
            Self::Failed { detail, .. } => detail,
        }
    }

    pub(super) fn backtrace(&self) -> &str {
        match self {
            Self::Paused => "",
            Self::Failed { backtrace, .. } => backtrace,
        }
    }

    fn of(ended: &Ended, stage: &str) -> Self {
        Self::Failed { detail: format!("{stage}{}", ended.detail()), backtrace: ended.backtrace() }
    }

    fn told(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Failed { detail: detail.into().into_owned(), backtrace: String::new() }
    }
}

/// An instance that knows the configuration.
///
/// # Errors
/// It can't be made, does not take the configuration this time, or that is not tried at the moment.
pub(super) async fn ready(plugin: &Plugin, from: From, config: ConfigId) -> Result<Box<Instance>, Unready> {
    let pool = plugin.pool();
    if !pool.may_set_up() {
        if let From::Idle(instance) = from {
            pool.stock(instance);
        }
        return Err(Unready::Paused);
    }
    let outcome = set_up(plugin, from, config).await;
    match &outcome {
        Ok(_) => pool.was_set_up(),
        Err(_) => pool.was_not_set_up(),
    }
    outcome
}

async fn set_up(plugin: &Plugin, from: From, config: ConfigId) -> Result<Box<Instance>, Unready> {
    let mut instance = match from {
        From::Idle(instance) => instance,
        From::Nothing(seat) => {
            let built = plugin.blueprint().build(Some(seat)).await;
            built.map_err(|ended| Unready::of(&ended, ""))?
        }
    };
    tell(plugin, &mut instance, config).await?;
    Ok(instance)
}

/// An instance of no worker, that knows all of these configurations.
///
/// # Errors
/// It can't be made, or does not take one of them.
pub(super) async fn ahead(plugin: &Plugin, configs: &[ConfigId]) -> Result<Box<Instance>, Unready> {
    let built = plugin.blueprint().build(None).await;
    let mut instance = built.map_err(|ended| Unready::of(&ended, ""))?;
    for config in configs {
        tell(plugin, &mut instance, *config).await?;
    }
    Ok(instance)
}

async fn tell(plugin: &Plugin, instance: &mut Instance, config: ConfigId) -> Result<(), Unready> {
    if let Some(configure) = instance.functions().configure {
        let json = plugin.configurations().json(config);
        let json = json.ok_or_else(|| Unready::told("the configuration is not known"))?;
        let params = (config.number(), json.as_ref().to_owned());
        let told = instance.call(configure, params, TimeLimit::SETUP).await;
        let (answer,) = told.map_err(|ended| Unready::of(&ended, "in `lifecycle.configure`: "))?;
        answer.map_err(|message| {
            Unready::told(format!("a configuration that it took before was refused: {message}"))
        })?;
    }
    instance.learned(config);
    Ok(())
}
