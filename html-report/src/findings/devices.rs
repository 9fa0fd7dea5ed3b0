use super::{Finding, Rule, figures, interval, kind_of, subject};
use crate::difference::{Verdict, speed};
use crate::gathered::Gathered;
use crate::group::Group;
use crate::lines::{Axis, Line, Same, lines};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Devices",
    method: "Groups are compared that differ in nothing but the number of devices that share each batch, or in that and in the \
             batch size, so that each device has as many samples. The speed-up is the ratio of throughputs to the fewest \
             devices, and its share of the ideal is that over the ratio of devices. Communication is the share of the timed \
             seconds from the end of the slowest device's work until all have what all of them found.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let along = |name: &str, axis: Axis| {
        let groups = gathered.of_workload(name);
        lines(&groups, axis).iter().filter_map(|line| of_line(gathered, axis, line)).collect::<Vec<_>>()
    };
    let of = |name: &str| {
        [Axis::Devices, Axis::FedDevices].into_iter().flat_map(|axis| along(name, axis)).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

fn of_line(gathered: &Gathered<'_>, axis: Axis, line: &Line<'_, '_>) -> Option<Finding> {
    let mut points = line.points.clone();
    points.retain(|(_, group)| group.counted_rates().is_some());
    let ((fewest, base), others) = points.split_first()?;
    let (most, last) = others.last()?;
    let ratio = speed(base, last)?;
    let name = |count: f64| format!("{count} device{}", if count == 1.0 { "" } else { "s" });
    let batch = match line.same {
        Same::PerDevice(samples) => format!("{samples} samples for each device"),
        _ => format!("batches of {} divided", base.setup.batch_size),
    };
    let likely = if ratio.verdict == Verdict::Tied { ", which chance explains as well" } else { "" };
    let communication = last.communication().map(|share| format!("; communication took {}", text::percent(share)));
    let software = last.runs.iter().any(|run| run.record.device.adapter.software);
    let logical = if software { ". They are logical devices of one software adapter and share its cores" } else { "" };
    let text = format!(
        "{}: with {batch}, {} are {} times as fast as {} ({}){likely}, {} of the ideal{}{logical}.",
        subject(gathered, base, axis.fields()),
        name(*most),
        text::times(ratio.value),
        name(*fewest),
        interval(&ratio),
        text::whole_percent(ratio.value / (most / fewest)),
        communication.unwrap_or_default(),
    );
    let numbers = points.iter().map(|(count, group): &(f64, &Group<'_>)| figures(&name(*count), group)).collect();
    Some(Finding { kind: kind_of(ratio.verdict), text, numbers, rule: RULE.title })
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    fn made(devices: u32, batch: u32, rate: f64) -> Made {
        Made::new("caffe-mnist").devices(devices).batch_size(batch).rate(rate)
    }

    #[test]
    fn both_kinds_of_scaling_are_told_with_what_communication_took() {
        let records = [made(1, 60, 1e4), made(2, 60, 1.2e4), made(2, 120, 1.8e4)].map(Made::record);
        let found = found(&RULE, records.to_vec());
        expect(
            &found[0],
            Kind::Difference,
            &["with batches of 60 divided, 2 devices are 1.20 times as fast as 1 device", "60 % of the ideal"],
        );
        let parts =
            ["with 60 samples for each device, 2 devices are 1.80 times", "90 % of the ideal", "communication took 10"];
        expect(&found[1], Kind::Difference, &parts);
        assert!(!found[1].text.contains("logical"), "{}", found[1].text);
    }

    #[test]
    fn devices_of_one_software_adapter_are_called_that() {
        let records = [made(1, 60, 1e4), made(2, 60, 0.8e4)].map(|made| made.software().record());
        expect(&found(&RULE, records.to_vec())[0], Kind::Difference, &["0.80 times", "share its cores."]);
    }
}
