//! How many connections there are, in all and from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Connections that are open, by their address; in memory only, and forgotten when they are closed.
#[derive(Clone, Default)]
pub(crate) struct OpenConnections(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection that is counted; dropping it makes room for another from its address.
pub(crate) struct OpenConnection {
    connections: OpenConnections,
    address: IpAddr,
}

impl OpenConnections {
    /// Counts a connection from `address`, unless it has `most` already.
    pub(crate) fn open(&self, address: IpAddr, most: usize) -> Option<OpenConnection> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(OpenConnection { connections: self.clone(), address })
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.connections.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_address_has_as_many_places_as_it_may_and_others_have_their_own() {
        let connections = OpenConnections::default();
        let [one, other] = [1, 2].map(|last| IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)));
        let places: Vec<_> = (0..3).filter_map(|_| connections.open(one, 2)).collect();
        assert_eq!(places.len(), 2);
        assert!(connections.open(other, 2).is_some());
        drop(places);
        assert!(connections.0.lock().unwrap().is_empty(), "nothing is kept of who was here");
        assert!(connections.open(one, 2).is_some());
    }
}
