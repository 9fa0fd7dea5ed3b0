//! One limit for each of many addresses, in memory that does not grow with them.

use std::num::NonZeroU32;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use super::address::Network;

/// So many networks are told apart at once, in about ten megabytes.
const MOST_NETWORKS: usize = 100_000;

type Limiter<C> = RateLimiter<Network, HashMapStateStore<Network>, C, NoOpMiddleware<<C as Clock>::Instant>>;

pub(super) struct Rate<C: Clock = MonotonicClock> {
    quota: Quota,
    clock: C,
    limiter: RwLock<Limiter<C>>,
}

impl Rate {
    /// So many in a period, `burst` of them at once; none means no limit.
    pub(super) fn new(number: u32, period: Duration, burst: u32) -> Option<Self> {
        Self::with_clock(number, period, burst, MonotonicClock)
    }
}

impl<C: Clock + Clone> Rate<C> {
    fn with_clock(number: u32, period: Duration, burst: u32, clock: C) -> Option<Self> {
        let burst = NonZeroU32::new(burst)?;
        let quota = Quota::with_period(period.checked_div(number)?)?.allow_burst(burst);
        let limiter = RwLock::new(Limiter::hashmap_with_clock(quota, clock.clone()));
        Some(Self { quota, clock, limiter })
    }

    /// Counts a request.
    ///
    /// # Errors
    /// One too many: how long to wait.
    pub(super) fn admit(&self, network: Network) -> Result<(), Duration> {
        let limiter = self.read();
        let admitted = limiter.check_key(&network).map_err(|refused| refused.wait_time_from(self.clock.now()));
        let full = limiter.len() > MOST_NETWORKS;
        drop(limiter);
        if full {
            self.make_room();
        }
        admitted
    }

    /// Forgets the networks that may do what a stranger may.
    pub(super) fn forget(&self) {
        let limiter = self.read();
        limiter.retain_recent();
        limiter.shrink_to_fit();
    }

    /// Whoever has so many networks is not stopped by limits for each, but by the budgets. Then all begin anew: to shut
    /// strangers out instead would shut out everybody.
    fn make_room(&self) {
        let mut limiter = self.limiter.write().unwrap_or_else(PoisonError::into_inner);
        limiter.retain_recent();
        if limiter.len() > MOST_NETWORKS / 2 {
            tracing::warn!(most = MOST_NETWORKS, "too many addresses ask at once to count them: counting begins anew");
            *limiter = Limiter::hashmap_with_clock(self.quota, self.clock.clone());
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Limiter<C>> {
        self.limiter.read().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn rate(number: u32, burst: u32) -> (Rate<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Rate::with_clock(number, HOUR, burst, clock.clone()).unwrap(), clock)
    }

    fn network(number: u32) -> Network {
        Network::V4(number.to_be_bytes())
    }

    #[test]
    fn a_burst_is_admitted_and_then_one_after_each_part_of_the_period() {
        let (rate, clock) = rate(60, 30);
        assert!((0..30).all(|_| rate.admit(network(1)).is_ok()));
        assert_eq!(rate.admit(network(1)), Err(Duration::from_secs(60)));
        assert!(rate.admit(network(2)).is_ok(), "others have limits of their own");
        clock.advance(Duration::from_secs(60));
        assert!(rate.admit(network(1)).is_ok());
        assert!(rate.admit(network(1)).is_err());
    }

    #[test]
    fn who_may_do_what_a_stranger_may_is_forgotten() {
        let (rate, clock) = rate(60, 30);
        assert!((0..100).all(|number| rate.admit(network(number)).is_ok()));
        rate.forget();
        assert_eq!(rate.read().len(), 100);
        clock.advance(HOUR);
        rate.forget();
        assert_eq!(rate.read().len(), 0);
    }

    #[test]
    fn memory_is_bounded_however_many_ask() {
        let (rate, _clock) = rate(60, 30);
        for number in 0..u32::try_from(3 * MOST_NETWORKS).unwrap() {
            assert!(rate.admit(network(number)).is_ok());
            assert!(rate.read().len() <= MOST_NETWORKS);
        }
    }

    #[test]
    fn none_is_no_limit() {
        assert!(Rate::new(0, HOUR, 0).is_none());
    }
}
