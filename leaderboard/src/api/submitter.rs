use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::Leaderboard;
use crate::error::ApiError;
use crate::limits::{Peer, day_of, prefix_of, submitter_address};
use crate::storage::Submitter;

/// Whose request it is. The address goes no further than to here, and it has no `Debug`, so that no log can hold it.
pub(crate) struct Requester(IpAddr);

impl FromRequestParts<Leaderboard> for Requester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, leaderboard: &Leaderboard) -> Result<Self, ApiError> {
        let Some(&Peer(peer)) = parts.extensions.get::<Peer>() else { return Err(ApiError::failed_inside()) };
        Ok(Self(submitter_address(peer, &parts.headers, leaderboard.trusted_proxy_header)))
    }
}

impl Requester {
    /// The word by which whoever asks counts at this moment.
    pub(crate) async fn submitter(&self, leaderboard: &Leaderboard, now: f64) -> Result<Submitter, ApiError> {
        let day = day_of(now);
        let salt = leaderboard.storage.submitter_salt(day).await?;
        Ok(Submitter { word: Some(salt.word(self.0)), day })
    }

    /// Pseudonym of the client's /24 or /48; `None` for this machine.
    pub(crate) async fn prefix(&self, leaderboard: &Leaderboard, now: f64) -> Result<Option<String>, ApiError> {
        let Some(address) = self.counted() else { return Ok(None) };
        Ok(Some(leaderboard.storage.submitter_salt(day_of(now)).await?.word(prefix_of(address))))
    }

    /// The address, if it is another machine's.
    pub(crate) fn counted(&self) -> Option<IpAddr> {
        (!self.0.is_loopback()).then_some(self.0)
    }
}
