//! Launches that a broken device leaves out.

use super::{Plan, Recording};

/// One launch of a plan: its place among all that its recordings launch.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Omission(pub(in super::super) usize);

impl Plan {
    /// Names of all launches, in the order in which an [`Omission`] counts them.
    pub(in super::super) fn launches(&self) -> Vec<String> {
        let named = |(name, recording): (&str, Option<&Recording>)| {
            let dispatches = recording.map_or(&[][..], |recording| &recording.dispatches);
            dispatches.iter().map(|dispatch| format!("{name}: {}", dispatch.kernel.name)).collect::<Vec<_>>()
        };
        let recordings = [
            ("shuffle", self.shuffle.as_ref()),
            ("training", Some(&self.training)),
            ("test", Some(&self.evaluation)),
            ("held-out test", self.held_out.as_ref()),
        ];
        recordings.into_iter().flat_map(named).collect()
    }

    /// Leaves out a launch.
    pub(in super::super) fn omit(&mut self, omission: Omission) {
        let mut place = omission.0;
        let recordings = self.shuffle.iter_mut().chain([&mut self.training, &mut self.evaluation]);
        for recording in recordings.chain(&mut self.held_out) {
            if place < recording.dispatches.len() {
                recording.dispatches.remove(place);
                for exchange in &mut recording.exchanges {
                    exchange.after -= usize::from(exchange.after > place);
                    exchange.until -= usize::from(exchange.until > place);
                }
                return;
            }
            place -= recording.dispatches.len();
        }
        panic!("a plan has no launch {}", omission.0);
    }
}
