//! Limits of rates and amounts by address and by the /24 or /48 around it. Addresses are never written to disk.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Protection;
use crate::client_address::{Peer, ProxyHeader, counted_address, network_of, prefix_of};
use crate::error::{ApiError, whole_seconds};

/// Interval between deletions of expired entries.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
/// Ratio of the limits of a /24 or /48 and of one address.
const PREFIX_FACTOR: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// Each request adds a row until it expires.
    Announcements,
    Imports,
    /// Requests of announced runs. A whole classroom may send them at once, and all runs must be provable.
    Uploads,
    Reading,
}

impl RequestKind {
    fn of(method: &Method, path: &str) -> Self {
        match (method, path) {
            (&Method::POST, "/api/v1/runs") => Self::Announcements,
            (&Method::POST, "/api/v1/runs/import" | "/api/v1/comparisons") => Self::Imports,
            (&Method::POST | &Method::PUT, path) if path.starts_with("/api/v1/runs/") => Self::Uploads,
            _ => Self::Reading,
        }
    }
}

results::names!(RequestKind {
    Announcements = "announcements",
    Imports = "imports",
    Uploads = "uploads",
    Reading = "reading"
});

/// The rate limits by address. Clones share them.
#[derive(Clone)]
pub(crate) struct RateLimits {
    trusted: Option<ProxyHeader>,
    /// The limits of each [`RequestKind`], for a network and for a prefix; `None` for no limit.
    limits: Arc<[Option<[Rate; 2]>; 4]>,
}

impl RateLimits {
    pub(crate) fn new(protection: &Protection) -> Self {
        let limit = |number: u32, period, burst: u32| {
            let of_prefix = [number, burst].map(|of_network| of_network.saturating_mul(PREFIX_FACTOR));
            Some([Rate::new(number, period, burst)?, Rate::new(of_prefix[0], period, of_prefix[1])?])
        };
        // The requests of half an hour, or of ten seconds, may come at once.
        let hourly = |number: u32| limit(number, HOUR, number.div_ceil(2));
        let each_second = |number: u32| limit(number, SECOND, number.saturating_mul(10));
        let limits = [
            hourly(protection.announcements_per_hour),
            hourly(protection.imports_per_hour),
            each_second(protection.uploads_per_second),
            each_second(protection.reading_per_second),
        ];
        Self { trusted: protection.trusted_proxy_header, limits: Arc::new(limits) }
    }

    fn admit(&self, kind: RequestKind, peer: IpAddr, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some([of_network, of_prefix]) = &self.limits[kind as usize] else { return Ok(()) };
        let Some(address) = counted_address(peer, headers, self.trusted) else { return Ok(()) };
        // The network comes first, so that its refused requests do not use up the limit of its neighbors.
        let admitted = of_network.admit(network_of(address)).and_then(|()| of_prefix.admit(prefix_of(address)));
        admitted.map_err(|wait| ApiError::too_many_requests(kind, wait))
    }

    /// Deletes addresses that have their full limit again, each minute. Never returns.
    pub(crate) async fn forget_regularly(self) {
        loop {
            tokio::time::sleep(CLEANUP_INTERVAL).await;
            self.limits.iter().flatten().flatten().for_each(Rate::forget);
        }
    }
}

pub(crate) async fn limit(
    State(limits): State<RateLimits>,
    Extension(Peer(peer)): Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let kind = RequestKind::of(request.method(), request.uri().path());
    match limits.admit(kind, peer, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Divisor of the budget for states: the runs of one /24 or /48 may fill this part of it.
pub(crate) const PREFIX_STATES_DIVISOR: u64 = 8;

#[expect(clippy::cast_possible_truncation, reason = "no clock gets there")]
pub(crate) fn day_of(unix_seconds: f64) -> i64 {
    (unix_seconds / SECONDS_PER_DAY).floor() as i64
}

impl ApiError {
    /// Refuses an address that sends too many requests. The message does not contain the address.
    fn too_many_requests(kind: RequestKind, wait: Duration) -> Self {
        let what = match kind {
            RequestKind::Announcements => "announced too many runs",
            RequestKind::Imports => "imported too many records",
            RequestKind::Uploads => "sent too many requests for announced runs",
            RequestKind::Reading => "sent too many requests",
        };
        let message = format!("Your address {what}. Try again in {} s.", whole_seconds(wait));
        let refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message);
        refusal.retry_after(wait).refused_by(kind.name())
    }

    pub(crate) fn too_many_open_runs() -> Self {
        let message = "The leaderboard has too many announced runs that are not uploaded yet. Try again in a few \
                       minutes, or run without announcing and import the record.";
        Self::unavailable("too_many_open_runs", message, Duration::from_secs(600)).refused_by("open_runs")
    }

    pub(crate) fn too_many_imports(unix_seconds: f64) -> Self {
        let message = "The leaderboard has reached its daily limit of imports. Keep the record and import it tomorrow \
                       (UTC). Announced runs can still be uploaded.";
        let rest = SECONDS_PER_DAY - unix_seconds.rem_euclid(SECONDS_PER_DAY);
        Self::unavailable("too_many_imports", message, Duration::from_secs_f64(rest)).refused_by("import_bytes")
    }
}

/// Maximum number of networks in memory, about ten megabytes.
const MAX_NETWORKS: usize = 100_000;

struct Rate {
    quota: Quota,
    limiter: RwLock<DefaultKeyedRateLimiter<IpAddr>>,
}

impl Rate {
    /// Allows this number in a period, `burst` of them at once. Returns `None`, no limit, for 0.
    fn new(number: u32, period: Duration, burst: u32) -> Option<Self> {
        let quota = Quota::with_period(period.checked_div(number)?)?.allow_burst(NonZeroU32::new(burst)?);
        Some(Self { quota, limiter: RwLock::new(RateLimiter::hashmap(quota)) })
    }

    /// Counts a request. The error is the time to wait if the network is over its limit.
    fn admit(&self, network: IpAddr) -> Result<(), Duration> {
        let limiter = self.read();
        let admitted = limiter.check_key(&network).map_err(|refused| refused.wait_time_from(limiter.clock().now()));
        let full = limiter.len() > MAX_NETWORKS;
        drop(limiter);
        if full {
            self.make_room();
        }
        admitted
    }

    fn forget(&self) {
        let limiter = self.read();
        limiter.retain_recent();
        limiter.shrink_to_fit();
    }

    /// Resets all counts: refusing new networks would refuse all clients. Budgets stop an attacker with this many.
    fn make_room(&self) {
        let mut limiter = self.limiter.write().unwrap_or_else(PoisonError::into_inner);
        limiter.retain_recent();
        if limiter.len() > MAX_NETWORKS / 2 {
            tracing::warn!(most = MAX_NETWORKS, "too many client addresses at once: all rate limits were reset");
            *limiter = RateLimiter::hashmap(self.quota);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, DefaultKeyedRateLimiter<IpAddr>> {
        self.limiter.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Amounts in use by network and by prefix (`true`), kept only in memory until they are returned. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Shares(Arc<Mutex<HashMap<(bool, IpAddr), usize>>>);

#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) of_network: usize,
    pub(crate) of_prefix: usize,
}

impl Most {
    pub(crate) const fn of_network(of_network: usize) -> Self {
        Self { of_network, of_prefix: of_network.saturating_mul(PREFIX_FACTOR as usize) }
    }
}

pub(crate) struct TakenShare {
    shares: Shares,
    address: IpAddr,
    amount: usize,
}

fn share_keys(address: IpAddr) -> [(bool, IpAddr); 2] {
    [(false, network_of(address)), (true, prefix_of(address))]
}

impl Shares {
    /// Takes an amount for an address, unless its network or its prefix would hold more than `most`.
    pub(crate) fn take(&self, address: IpAddr, amount: usize, most: Most) -> Option<TakenShare> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = share_keys(address);
        let amounts = keys.map(|key| held.get(&key).copied().unwrap_or_default() + amount);
        if amounts[0] > most.of_network || amounts[1] > most.of_prefix {
            return None;
        }
        held.extend(keys.into_iter().zip(amounts));
        Some(TakenShare { shares: self.clone(), address, amount })
    }
}

impl Drop for TakenShare {
    fn drop(&mut self) {
        let mut held = self.shares.0.lock().unwrap_or_else(PoisonError::into_inner);
        for key in share_keys(self.address) {
            if let Entry::Occupied(mut count) = held.entry(key) {
                *count.get_mut() -= self.amount;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }
}

/// Places, limited for each address and each /24 or /48. Clones share them.
#[derive(Clone)]
pub(crate) struct ClientPlaces {
    free: Arc<Semaphore>,
    shares: Shares,
    most: Most,
}

/// Taken places, which are given back when this is dropped.
pub(crate) type Taken = (OwnedSemaphorePermit, Option<TakenShare>);

impl ClientPlaces {
    pub(crate) fn new(number: usize, most: Most) -> Self {
        Self { free: Arc::new(Semaphore::new(number)), shares: Shares::default(), most }
    }

    /// Takes places for an address, `None` for this machine. Returns `None` if too few are free, or if the address would
    /// have too many.
    pub(crate) fn take(&self, number: usize, address: Option<IpAddr>) -> Option<Taken> {
        let take = |address| self.shares.take(address, number, self.most).ok_or(());
        let share = address.map(take).transpose().ok()?;
        let permit = Arc::clone(&self.free).try_acquire_many_owned(u32::try_from(number).ok()?).ok()?;
        Some((permit, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_as_what_they_cost() {
        for (method, path, kind) in [
            (Method::POST, "/api/v1/runs", RequestKind::Announcements),
            (Method::GET, "/api/v1/runs", RequestKind::Reading),
            (Method::POST, "/api/v1/runs/import", RequestKind::Imports),
            (Method::POST, "/api/v1/comparisons", RequestKind::Imports),
            (Method::PUT, "/api/v1/runs/0123456789abcdef", RequestKind::Uploads),
            (Method::POST, "/api/v1/runs/0123456789abcdef/segments", RequestKind::Uploads),
            (Method::DELETE, "/api/v1/runs/0123456789abcdef", RequestKind::Reading),
            (Method::GET, "/", RequestKind::Reading),
        ] {
            assert_eq!(RequestKind::of(&method, path), kind, "{method} {path}");
        }
    }

    fn network(number: u32) -> IpAddr {
        number.to_be_bytes().into()
    }

    #[test]
    fn networks_with_their_full_limit_are_forgotten() {
        for (rate, kept) in [(Rate::new(60, HOUR, 30), 100), (Rate::new(1_000_000, SECOND, 1), 0)] {
            let rate = rate.unwrap();
            assert!((0..100).all(|number| rate.admit(network(number)).is_ok()));
            std::thread::sleep(Duration::from_millis(2));
            rate.forget();
            assert_eq!(rate.read().len(), kept);
        }
    }

    #[test]
    fn memory_is_bounded_however_many_ask() {
        let rate = Rate::new(60, HOUR, 30).unwrap();
        for number in 0..u32::try_from(3 * MAX_NETWORKS).unwrap() {
            assert!(rate.admit(network(number)).is_ok());
            assert!(rate.read().len() <= MAX_NETWORKS);
        }
    }

    #[test]
    fn shares_are_limited_per_address() {
        let shares = Shares::default();
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse::<IpAddr>().unwrap());
        let places: Vec<_> = (0..3).filter_map(|_| shares.take(one, 1, Most::of_network(2))).collect();
        assert_eq!(places.len(), 2);
        assert!(shares.take(other, 1, Most::of_network(2)).is_some());
        drop(places);
        assert!(shares.0.lock().unwrap().is_empty());
        assert!(shares.take(one, 1, Most::of_network(2)).is_some());
    }
}
