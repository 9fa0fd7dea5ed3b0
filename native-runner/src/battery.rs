//! Whether this machine runs on its battery.

use serde::Serialize;
use starship_battery::units::ratio::percent;
use starship_battery::{Manager, State};

/// A battery of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Battery {
    pub(crate) is_discharging: bool,
    pub(crate) charge_percent: f32,
}

/// All of them; none where the platform does not tell.
pub(crate) fn all() -> Vec<Battery> {
    let batteries = Manager::new().and_then(|manager| manager.batteries());
    let found = batteries.into_iter().flatten().filter_map(Result::ok);
    found
        .map(|battery| Battery {
            is_discharging: battery.state() == State::Discharging,
            charge_percent: battery.state_of_charge().get::<percent>(),
        })
        .collect()
}

/// Whether it does; false where there is no battery, or the platform does not tell.
pub(crate) fn is_discharging() -> bool {
    any_discharging(&all())
}

/// A laptop may have two batteries, and empty one after the other.
fn any_discharging(batteries: &[Battery]) -> bool {
    batteries.iter().any(|battery| battery.is_discharging)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_runs_on_its_battery_when_one_of_them_is_being_emptied() {
        let battery = |is_discharging| Battery { is_discharging, charge_percent: 50.0 };
        assert!(any_discharging(&[battery(false), battery(true)]));
        assert!(!any_discharging(&[battery(false), battery(false)]));
        assert!(!any_discharging(&[]));
    }
}
