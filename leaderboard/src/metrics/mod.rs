//! What a host's monitoring reads: numbers about the server, in Prometheus' text format, without ids and addresses.

mod event;
mod listener;
mod requests;

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

pub(crate) use event::Event;
pub(crate) use listener::MetricsListener;
pub(crate) use requests::{measure, note_route};

use crate::storage::StorageError;

/// Limits of the histogram's buckets: from a list out of memory to a request that is given up.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 20.0, 60.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    /// With `{id}` for an id.
    route: String,
    method: &'static str,
    /// `2xx` and so on.
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    method: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TierLabels {
    tier: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

/// The numbers of one server; cloning shares them.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    requests_in_progress: Gauge,
    open_connections: Gauge,
    refused: Family<LimitLabels, Counter>,
    announcements: Counter,
    accepted_runs: Family<TierLabels, Counter>,
    verified_runs: Family<TierLabels, Counter>,
    database_errors: Family<ReasonLabels, Counter>,
    received_bytes: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Arc::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            requests_in_progress: Gauge::default(),
            open_connections: Gauge::default(),
            refused: Family::default(),
            announcements: Counter::default(),
            accepted_runs: Family::default(),
            verified_runs: Family::default(),
            database_errors: Family::default(),
            received_bytes: Counter::default(),
        };
        // Monitoring sees a number rise only if it was there before.
        for reason in StorageError::REASONS {
            drop(metrics.database_errors.get_or_create(&ReasonLabels { reason }));
        }
        metrics.registry = Arc::new(metrics.registered());
        metrics
    }
}

impl Metrics {
    fn registered(&self) -> Registry {
        let mut registry = Registry::with_prefix("gradmark");
        registry.register("http_requests", "Requests that were answered", self.requests.clone());
        let help = "Time from a request's head to the beginning of its answer";
        registry.register_with_unit("http_request", help, Unit::Seconds, self.request_seconds.clone());
        let help = "Requests whose body is received or that are worked on";
        registry.register("http_requests_in_progress", help, self.requests_in_progress.clone());
        registry.register("open_connections", "Connections that are open", self.open_connections.clone());
        let help = "Requests and connections that a limit refused";
        registry.register("refused", help, self.refused.clone());
        registry.register("announcements", "Runs that were announced", self.announcements.clone());
        let help = "Runs that were accepted, by the tier that they were accepted with";
        registry.register("accepted_runs", help, self.accepted_runs.clone());
        let help = "Runs of which parts were computed again, by the tier that this gave them";
        registry.register("verified_runs", help, self.verified_runs.clone());
        let help = "Requests that failed in the database, by reason";
        registry.register("database_errors", help, self.database_errors.clone());
        let help = "Bytes of requests' bodies";
        registry.register_with_unit("received", help, Unit::Bytes, self.received_bytes.clone());
        registry
    }

    /// A connection, until what this returns is dropped.
    pub(crate) fn open_connection(&self) -> InProgress {
        InProgress::new(&self.open_connections)
    }

    /// Counts what happened.
    pub(crate) fn count(&self, event: Event) {
        match event {
            Event::Announced => drop(self.announcements.inc()),
            Event::Accepted(tier) => drop(self.accepted_runs.get_or_create(&TierLabels { tier: tier.name() }).inc()),
            Event::Verified(tier) => drop(self.verified_runs.get_or_create(&TierLabels { tier: tier.name() }).inc()),
            Event::Refused(limit) => drop(self.refused.get_or_create(&LimitLabels { limit }).inc()),
            Event::DatabaseFailed(reason) => drop(self.database_errors.get_or_create(&ReasonLabels { reason }).inc()),
        }
    }

    /// All numbers as text.
    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Something that is counted for as long as it lasts, however it ends.
pub(crate) struct InProgress(Gauge);

impl InProgress {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use results::api::Tier;

    use super::*;

    #[test]
    fn what_no_answer_shows_is_counted_under_its_name() {
        let metrics = Metrics::default();
        let connections = [(); 2].map(|()| metrics.open_connection());
        for event in [Event::Verified(Tier::Proven), Event::Verified(Tier::Proven), Event::DatabaseFailed("full")] {
            metrics.count(event);
        }
        let text = metrics.text().unwrap();
        for line in [
            "gradmark_verified_runs_total{tier=\"proven\"} 2",
            "gradmark_database_errors_total{reason=\"full\"} 1",
            "gradmark_database_errors_total{reason=\"busy\"} 0",
            "gradmark_announcements_total 0",
            "gradmark_open_connections 2",
        ] {
            assert!(text.lines().any(|written| written == line), "{line} in {text}");
        }
        drop(connections);
        assert!(metrics.text().unwrap().contains("gradmark_open_connections 0\n"));
    }
}
