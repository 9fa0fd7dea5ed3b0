//! Which of the servers that compute together is lost.

use engine::EngineError;

use super::watch::{Lost, Watch};

/// Whether each server is lost, with its address, in the order in which they were named.
#[derive(Clone)]
pub(super) struct Losses(Vec<(String, Lost)>);

impl Losses {
    pub(super) fn of(watches: &[Watch]) -> Self {
        Self(watches.iter().map(|watch| (watch.address().to_owned(), watch.lost())).collect())
    }

    #[cfg(test)]
    pub(super) fn one(lost: &Lost) -> Self {
        Self(vec![("gpu:4400".to_owned(), lost.clone())])
    }

    /// That a server is lost: the first that is. Of several the error says which.
    pub(super) fn error(&self) -> Option<EngineError> {
        let place = self.0.iter().position(|(_, lost)| lost.is_known())?;
        let devices = self.0.len();
        if devices == 1 {
            return Some(EngineError::LinkLost);
        }
        let name = self.0[place].0.clone();
        Some(EngineError::OfDevice { number: place + 1, devices, name, error: Box::new(EngineError::LinkLost) })
    }

    /// Learns from what a call ended with whether a server is lost.
    pub(super) fn note(&self, error: &EngineError) {
        let place = match error {
            EngineError::LinkLost => 0,
            EngineError::OfDevice { number, error, .. } if matches!(**error, EngineError::LinkLost) => number - 1,
            _ => return,
        };
        if let Some((_, lost)) = self.0.get(place) {
            lost.set();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_servers_the_lost_one_is_named_whoever_noticed_it() {
        let second = Lost::default();
        let losses = Losses(vec![("a:1".to_owned(), Lost::default()), ("b:2".to_owned(), second.clone())]);
        assert!(losses.error().is_none());
        losses.note(&EngineError::DeviceRefused { message: "no".to_owned() });
        assert!(losses.error().is_none());
        second.set();
        let text = losses.error().map(|error| error.to_string()).unwrap_or_default();
        assert!(text.starts_with("device 2 of 2 (b:2): the link to the remote device broke"), "{text}");

        let noticed = Losses(vec![("a:1".to_owned(), Lost::default()), ("b:2".to_owned(), Lost::default())]);
        noticed.note(&losses.error().unwrap());
        assert_eq!(noticed.error().map(|error| error.to_string()), Some(text));
    }

    #[test]
    fn of_a_single_server_nobody_has_to_be_told_which_it_was() {
        let lost = Lost::default();
        let losses = Losses::one(&lost);
        losses.note(&EngineError::LinkLost);
        assert!(lost.is_known() && matches!(losses.error(), Some(EngineError::LinkLost)));
    }
}
