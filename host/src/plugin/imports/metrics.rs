//! WIT `metrics`. Must not know how values are kept: [`Meters`](crate::plugin::capability::metrics::Meters) does.

use crate::plugin::bindings::metrics::{self, Kind, MetricError};
use crate::plugin::capability::metrics::{Change, Kind as Checked, Refused};
use crate::plugin::imports::not_granted;
use crate::plugin::store::State;

impl metrics::Host for State {
    fn define(
        &mut self,
        name: String,
        help: String,
        kind: Kind,
        labels: Vec<String>,
    ) -> wasmtime::Result<Result<u32, MetricError>> {
        self.charge()?;
        let (meters, edition) = self.capabilities.metrics.as_ref().ok_or_else(not_granted)?;
        let kind = match kind {
            Kind::Counter => Checked::Counter,
            Kind::Gauge => Checked::Gauge,
            Kind::Histogram(bounds) => Checked::Histogram(bounds),
        };
        Ok(meters.define(*edition, &name, &help, kind, labels).map_err(MetricError::from))
    }

    fn add(
        &mut self,
        metric: u32,
        values: Vec<String>,
        amount: f64,
    ) -> wasmtime::Result<Result<(), MetricError>> {
        change(self, metric, values, Change::Add(amount))
    }

    fn set(
        &mut self,
        metric: u32,
        values: Vec<String>,
        value: f64,
    ) -> wasmtime::Result<Result<(), MetricError>> {
        change(self, metric, values, Change::Set(value))
    }

    fn observe(
        &mut self,
        metric: u32,
        values: Vec<String>,
        value: f64,
    ) -> wasmtime::Result<Result<(), MetricError>> {
        change(self, metric, values, Change::Observe(value))
    }
}

fn change(
    state: &mut State,
    metric: u32,
    values: Vec<String>,
    change: Change,
) -> wasmtime::Result<Result<(), MetricError>> {
    state.charge()?;
    let (meters, _) = state.capabilities.metrics.as_ref().ok_or_else(not_granted)?;
    Ok(meters.change(metric, values, change).map_err(MetricError::from))
}

impl From<Refused> for MetricError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::InvalidName => Self::InvalidName,
            Refused::InvalidLabel => Self::InvalidLabel,
            Refused::InvalidValue => Self::InvalidValue,
            Refused::Conflict => Self::Conflict,
            Refused::TooMany => Self::TooMany,
            Refused::Unknown => Self::Unknown,
        }
    }
}
