//! Whether this machine runs on its battery.

use starship_battery::{Manager, State};

/// Whether it does; false where there is no battery, or the platform does not tell.
pub(crate) fn is_discharging() -> bool {
    let batteries = Manager::new().and_then(|manager| manager.batteries());
    let states = batteries.into_iter().flatten().filter_map(Result::ok).map(|battery| battery.state());
    any_discharging(states)
}

/// A laptop may have two batteries, and empty one after the other.
fn any_discharging(mut states: impl Iterator<Item = State>) -> bool {
    states.any(|state| state == State::Discharging)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_runs_on_its_battery_when_one_of_them_is_being_emptied() {
        assert!(any_discharging([State::Full, State::Discharging].into_iter()));
        assert!(!any_discharging([State::Charging, State::Full, State::Unknown].into_iter()));
        assert!(!any_discharging([].into_iter()));
    }
}
