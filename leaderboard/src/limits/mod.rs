//! How often one address, and the /24 or /48 around it, may ask, and how much it may hold. Addresses are in memory only, for
//! as long as they count, and are never written out.

mod address;
mod budgets;
mod rate;
mod shares;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub use address::ProxyHeader;
pub(crate) use address::{Peer, counted, prefix_of, submitter_address};
pub(crate) use budgets::{Budgets, WEIGHTS_SHARE_OF_PREFIX, day_of};
use rate::Rate;
pub(crate) use shares::{Most, Share, Shares};

use crate::Protection;
use crate::error::ApiError;

/// How often what no longer counts is forgotten.
const FORGETTING: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
/// Limit of a /24 or /48 over that of one address.
const PREFIX_FACTOR: u32 = 4;

/// What is counted apart, because it costs differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each one leaves a row until it expires.
    Announcements,
    /// Each one leaves a record that nobody vouches for.
    Imports,
    /// What an announced run sends. A whole classroom does so at once, and none of them may fail to be proven.
    Uploads,
    /// Everything else: the page, its data, lists, and what does not exist.
    Reading,
}

impl Kind {
    fn of(method: &Method, path: &str) -> Self {
        match (method, path) {
            (&Method::POST, "/api/v1/runs") => Self::Announcements,
            (&Method::POST, "/api/v1/runs/import" | "/api/v1/comparisons") => Self::Imports,
            (&Method::POST | &Method::PUT, path) if path.starts_with("/api/v1/runs/") => Self::Uploads,
            _ => Self::Reading,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Announcements => "announcements",
            Self::Imports => "imports",
            Self::Uploads => "uploads",
            Self::Reading => "reading",
        }
    }
}

/// The limits by address; cloning shares them.
#[derive(Clone)]
pub(crate) struct Limits(Arc<Rates>);

struct Rates {
    trusted: Option<ProxyHeader>,
    announcements: Option<Limit>,
    imports: Option<Limit>,
    uploads: Option<Limit>,
    reading: Option<Limit>,
}

/// The limit of one kind.
struct Limit {
    of_network: Rate,
    of_prefix: Rate,
}

impl Limit {
    fn new(number: u32, period: Duration, burst: u32) -> Option<Self> {
        let of_prefix = Rate::new(number.saturating_mul(PREFIX_FACTOR), period, burst.saturating_mul(PREFIX_FACTOR))?;
        Some(Self { of_network: Rate::new(number, period, burst)?, of_prefix })
    }

    /// The network comes first: what it is refused leaves more to its neighbors.
    fn admit(&self, address: IpAddr) -> Result<(), Duration> {
        self.of_network.admit(address.into())?;
        self.of_prefix.admit(prefix_of(address).into())
    }

    fn forget(&self) {
        self.of_network.forget();
        self.of_prefix.forget();
    }
}

impl Limits {
    pub(crate) fn new(protection: &Protection) -> Self {
        // Half an hour's worth, or ten seconds' worth, may come at once.
        let hourly = |number: u32| Limit::new(number, HOUR, number.div_ceil(2));
        let each_second = |number: u32| Limit::new(number, SECOND, number.saturating_mul(10));
        Self(Arc::new(Rates {
            trusted: protection.trusted_proxy_header,
            announcements: hourly(protection.announcements_per_hour),
            imports: hourly(protection.imports_per_hour),
            uploads: each_second(protection.uploads_per_second),
            reading: each_second(protection.reading_per_second),
        }))
    }

    fn of(&self, kind: Kind) -> Option<&Limit> {
        match kind {
            Kind::Announcements => self.0.announcements.as_ref(),
            Kind::Imports => self.0.imports.as_ref(),
            Kind::Uploads => self.0.uploads.as_ref(),
            Kind::Reading => self.0.reading.as_ref(),
        }
    }

    /// # Errors
    /// Who asked too often is told so, and when to come back.
    fn admit(&self, kind: Kind, peer: IpAddr, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(limit) = self.of(kind) else { return Ok(()) };
        let Some(address) = counted(peer, headers, self.0.trusted) else { return Ok(()) };
        limit.admit(address).map_err(|wait| ApiError::too_many_requests(kind, wait))
    }

    /// Forgets addresses that may ask as often again as any other, each minute; never ends.
    pub(crate) async fn forget_regularly(self) {
        loop {
            tokio::time::sleep(FORGETTING).await;
            let Rates { trusted: _, announcements, imports, uploads, reading } = &*self.0;
            [announcements, imports, uploads, reading].into_iter().flatten().for_each(Limit::forget);
        }
    }
}

/// Answers with 429 who asks more often than is allowed.
pub(crate) async fn limit(
    State(limits): State<Limits>,
    Extension(Peer(peer)): Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let kind = Kind::of(request.method(), request.uri().path());
    match limits.admit(kind, peer, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_as_what_they_cost() {
        for (method, path, kind) in [
            (Method::POST, "/api/v1/runs", Kind::Announcements),
            (Method::GET, "/api/v1/runs", Kind::Reading),
            (Method::POST, "/api/v1/runs/import", Kind::Imports),
            (Method::POST, "/api/v1/comparisons", Kind::Imports),
            (Method::PUT, "/api/v1/runs/0123456789abcdef", Kind::Uploads),
            (Method::POST, "/api/v1/runs/0123456789abcdef/segments", Kind::Uploads),
            (Method::DELETE, "/api/v1/runs/0123456789abcdef", Kind::Reading),
            (Method::GET, "/", Kind::Reading),
        ] {
            assert_eq!(Kind::of(&method, path), kind, "{method} {path}");
        }
    }

    #[test]
    fn each_kind_has_a_limit_of_its_own_and_zero_is_none() {
        let limits =
            Limits::new(&Protection { announcements_per_hour: 2, imports_per_hour: 0, ..Protection::default() });
        let somebody = IpAddr::from([192, 0, 2, 1]);
        let admitted = |kind| limits.admit(kind, somebody, &HeaderMap::new()).is_ok();
        assert!(admitted(Kind::Announcements));
        assert!(!admitted(Kind::Announcements));
        assert!((0..1000).all(|_| admitted(Kind::Imports)));
        assert!((0..500).all(|_| admitted(Kind::Reading)));
    }

    #[test]
    fn a_prefix_has_four_times_the_limit_of_an_address() {
        for (before, after) in [("192.0.2.", ""), ("2001:db8:1:", "::1")] {
            let limits = Limits::new(&Protection { announcements_per_hour: 2, ..Protection::default() });
            let admitted =
                |address: &str| limits.admit(Kind::Announcements, address.parse().unwrap(), &HeaderMap::new()).is_ok();
            assert_eq!((1..100).filter(|number| admitted(&format!("{before}{number}{after}"))).count(), 4);
            assert!(admitted("198.51.100.1") && admitted("2001:db8:2::1"), "others have their own");
        }
    }

    #[test]
    fn this_machine_is_never_told_to_wait() {
        let limits = Limits::new(&Protection { announcements_per_hour: 1, ..Protection::default() });
        for here in [IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 1, 2, 3]), "::1".parse().unwrap()] {
            assert!((0..10).all(|_| limits.admit(Kind::Announcements, here, &HeaderMap::new()).is_ok()));
        }
    }
}
