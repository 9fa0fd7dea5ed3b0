//! What one address, and the /24 or /48 around it, holds at the moment: connections, memory, exports.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::PREFIX_FACTOR;
use super::address::{Network, prefix_of};

/// Amounts that are held, in memory only and forgotten when they are given back; cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct Shares(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    of_networks: HashMap<Network, usize>,
    of_prefixes: HashMap<Network, usize>,
}

/// Largest amounts that may be held.
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

/// An amount that is given back when this is dropped.
pub(crate) struct Share {
    shares: Shares,
    address: IpAddr,
    amount: usize,
}

impl Shares {
    /// Takes an amount for an address, unless its network or its prefix would hold more than `most`.
    pub(crate) fn take(&self, address: IpAddr, amount: usize, most: Most) -> Option<Share> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (network, prefix) = (Network::from(address), Network::from(prefix_of(address)));
        let of_network = held.of_networks.get(&network).copied().unwrap_or_default() + amount;
        let of_prefix = held.of_prefixes.get(&prefix).copied().unwrap_or_default() + amount;
        if of_network > most.of_network || of_prefix > most.of_prefix {
            return None;
        }
        held.of_networks.insert(network, of_network);
        held.of_prefixes.insert(prefix, of_prefix);
        Some(Share { shares: self.clone(), address, amount })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.shares.0.lock().unwrap_or_else(PoisonError::into_inner);
        give_back(&mut held.of_networks, self.address.into(), self.amount);
        give_back(&mut held.of_prefixes, prefix_of(self.address).into(), self.amount);
    }
}

fn give_back(held: &mut HashMap<Network, usize>, key: Network, amount: usize) {
    if let Some(count) = held.get_mut(&key) {
        *count -= amount;
        if *count == 0 {
            held.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_as_many_places_as_it_may_and_others_have_their_own() {
        let shares = Shares::default();
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse::<IpAddr>().unwrap());
        let places: Vec<_> = (0..3).filter_map(|_| shares.take(one, 1, Most::of_network(2))).collect();
        assert_eq!(places.len(), 2);
        assert!(shares.take(other, 1, Most::of_network(2)).is_some());
        drop(places);
        let held = shares.0.lock().unwrap();
        assert!(held.of_networks.is_empty() && held.of_prefixes.is_empty(), "nothing is kept of who was here");
        drop(held);
        assert!(shares.take(one, 1, Most::of_network(2)).is_some());
    }

    #[test]
    fn a_prefix_holds_four_times_as_much_as_an_address() {
        for (before, after, elsewhere) in [("192.0.2.", "", "198.51.100.1"), ("2001:db8:1:", "::1", "2001:db8:2::1")] {
            let shares = Shares::default();
            let take = |address: &str| shares.take(address.parse().unwrap(), 3, Most::of_network(3));
            let held: Vec<_> = (1..50).filter_map(|number| take(&format!("{before}{number}{after}"))).collect();
            assert_eq!(held.len(), 4);
            assert!(take(elsewhere).is_some());
        }
    }
}
