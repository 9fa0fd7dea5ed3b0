use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding};
use crate::battery::{self, Battery};

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::System, title: "power", examine };

fn examine(_: &mut Circumstances<'_>) -> Vec<Finding> {
    vec![judge(&battery::all())]
}

fn judge(batteries: &[Battery]) -> Finding {
    let charges: Vec<String> = batteries.iter().map(|battery| format!("{:.0} %", battery.charge_percent)).collect();
    let details = json!({ "batteries": batteries });
    let finding = match batteries {
        [] => Finding::fine("power", "No battery: this machine has its power from a cable."),
        _ if batteries.iter().any(|battery| battery.is_discharging) => {
            let sentence = format!("This machine runs on its battery ({}), which lowers clocks.", charges.join(", "));
            Finding::warning("power", sentence).with_advice("Plug it in; a run on battery says so in its record.")
        }
        _ => Finding::fine("power", format!("Plugged in, with a battery of {}.", charges.join(" and "))),
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn a_machine_on_its_battery_is_told_to_be_plugged_in() {
        let battery = |is_discharging| Battery { is_discharging, charge_percent: 43.2 };
        assert_eq!(judge(&[]).severity, Severity::Fine);
        assert_eq!(judge(&[battery(false)]).severity, Severity::Fine);
        let found = judge(&[battery(false), battery(true)]);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.sentence.contains("43 %"), "{}", found.sentence);
    }
}
