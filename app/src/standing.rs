//! Where a run stands among others and what a browser costs, in words.

use engine::KNOWN_BACKENDS;
use engine::backends::{BURN_REMOTE, Devices};
use results::api::{
    BrowserTaxOfDevice, DeviceSource, DistributionQuery, FigureOfDevice, RankedClass, WorkloadStanding,
};
use results::{Device, DeviceKind, RunRecord, WorkloadRecord};

use crate::t;
use crate::text;

/// Where a run stands in one network; nothing where no run is proven yet. `counts` says whether it is one of those that it
/// stands among.
pub fn sentence(standing: &WorkloadStanding, counts: bool) -> Option<String> {
    let [all, device, vendor] = standing.runs;
    if all == 1 {
        return Some(if counts { t!(standing_only_this) } else { t!(standing_only_other) }.to_owned());
    }
    let share = percent(standing.among_all?);
    // What is true of all runs is not said again of fewer.
    let mut sentence = match () {
        () if device == all => t!(standing_faster_all_on_device, share = share, runs = all),
        () if vendor == all => t!(standing_faster_all_of_vendor, share = share, runs = all),
        () => t!(standing_faster, share = share, runs = all),
    };
    match standing.of_device.filter(|_| device < all) {
        Some(_) if device == 1 && counts => sentence.push_str(t!(standing_only_on_device)),
        Some(share) => sentence.push_str(&t!(standing_than_on_device, share = percent(share), runs = device)),
        None => {}
    }
    match standing.of_vendor.filter(|_| vendor < all && vendor > device) {
        Some(_) if vendor == 1 && counts => sentence.push_str(t!(standing_only_of_vendor)),
        Some(share) => sentence.push_str(&t!(standing_than_of_vendor, share = percent(share), runs = vendor)),
        None => {}
    }
    sentence.push('.');
    Some(sentence)
}

/// A share without digits after the point. Only who leaves all behind is told 100 %, and only the last 0 %.
fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    let inside = share > 0.0 && share < 1.0;
    format!("{:.0} %", if inside { whole.clamp(1.0, 99.0) } else { whole })
}

/// Whom a run is compared with, and whether it is one of them.
pub fn counting(counts: bool) -> &'static str {
    if counts { t!(standing_counts) } else { t!(standing_counts_not) }
}

/// What is asked for to draw how the rates of a network lie around a run's; nothing where only another version of its suite
/// could be answered.
pub fn distribution_query(record: &RunRecord, workload: &WorkloadRecord) -> Option<DistributionQuery> {
    let suite = engine::suite(&record.suite.name).filter(|suite| suite.version == record.suite.version)?;
    suite.workloads.contains(&workload.workload.as_str()).then(|| DistributionQuery {
        suite: record.suite.name.clone(),
        workload: workload.workload.clone(),
        precision: Some(workload.settings.precision),
        backend: Some(record.device.backend.clone()),
        client: Some(record.provenance.client.kind),
        class: Some(class_of(&record.device)),
    })
}

/// What a run on the device is ranked with, if it is ranked at all.
fn class_of(device: &Device) -> RankedClass {
    let processor = if device.backend == BURN_REMOTE {
        // The device is served elsewhere, which says what it is.
        device.adapter.kind == DeviceKind::Cpu && device.adapter.api == "CPU"
    } else {
        KNOWN_BACKENDS.iter().any(|known| known.name == device.backend && known.devices() == Devices::Given)
    };
    if processor { RankedClass::Processor } else { RankedClass::Gpu }
}

/// Who says which device it is, as a sentence.
pub fn source(source: DeviceSource) -> &'static str {
    match source {
        DeviceSource::Reported => t!(device_source_reported),
        DeviceSource::Claimed => t!(device_source_claimed),
        DeviceSource::Masked => t!(device_source_masked),
    }
}

/// What a browser costs, as the rest of a sentence that begins with a network.
pub fn browser_tax(tax: &BrowserTaxOfDevice) -> String {
    let ratio = tax.native_over_browser;
    let share = if ratio >= 1.0 { 1.0 - 1.0 / ratio } else { 1.0 / ratio - 1.0 };
    let percent = text::whole_percent(share);
    match () {
        () if share < 0.005 => t!(standing_as_fast).to_owned(),
        () if ratio >= 1.0 => t!(standing_slower, share = percent),
        () => t!(standing_browser_faster, share = percent),
    }
}

/// Who stands behind such a comparison.
pub fn tax_submitters(tax: &BrowserTaxOfDevice) -> String {
    let BrowserTaxOfDevice { native_submitters, browser_submitters, .. } = tax;
    t!(
        standing_tax_submitters,
        programs = t!(common_submitters, number = *native_submitters),
        browsers = *browser_submitters
    )
}

/// A score with its interval, as two texts.
pub fn score(figure: &FigureOfDevice) -> (String, String) {
    (
        text::score(figure.median),
        format!("{} – {}", text::score(figure.lower_quartile), text::score(figure.upper_quartile)),
    )
}

/// A rate in samples per second with its interval, as two texts.
pub fn rate(figure: &FigureOfDevice) -> (String, String) {
    (
        text::rate(figure.median),
        format!("{} – {}", text::rate(figure.lower_quartile), text::rate(figure.upper_quartile)),
    )
}

#[cfg(test)]
mod tests {
    use results::{Adapter, Precision, Suite};

    use super::*;

    fn device(backend: &str, kind: DeviceKind, api: &str) -> Device {
        Device {
            requested_adapter: "any".to_owned(),
            requested_backend: backend.to_owned(),
            backend: backend.to_owned(),
            adapter: Adapter {
                name: "Example".to_owned(),
                vendor: "example".to_owned(),
                architecture: String::new(),
                kind,
                api: api.to_owned(),
                driver: String::new(),
                software: false,
            },
            claimed_name: None,
        }
    }

    #[test]
    fn back_ends_of_the_processor_are_compared_with_processors() {
        let class = |backend, kind, api| class_of(&device(backend, kind, api));
        assert_eq!(class("wgsl", DeviceKind::Discrete, "Vulkan"), RankedClass::Gpu);
        assert_eq!(class("burn-cuda", DeviceKind::Discrete, "CUDA"), RankedClass::Gpu);
        assert_eq!(class("burn-flex", DeviceKind::Cpu, "CPU"), RankedClass::Processor);
        assert_eq!(class("burn-remote", DeviceKind::Discrete, "CUDA"), RankedClass::Gpu);
        assert_eq!(class("burn-remote", DeviceKind::Cpu, "CPU"), RankedClass::Processor);
    }

    fn standing(shares: [Option<f64>; 3], runs: [u64; 3]) -> WorkloadStanding {
        let [among_all, of_device, of_vendor] = shares;
        let workload = "caffe-mnist".to_owned();
        WorkloadStanding { workload, samples_per_second: 1000.0, among_all, of_device, of_vendor, runs }
    }

    #[test]
    fn a_run_stands_among_all_those_of_its_device_and_those_of_its_vendor() {
        let among = standing([Some(0.83), Some(0.51), Some(0.7)], [1204, 40, 300]);
        assert_eq!(
            sentence(&among, true).unwrap(),
            "Faster than 83 % of 1,204 proven runs; than 51 % of 40 on this device; than 70 % of 300 of this vendor."
        );
        let unknown = standing([Some(0.83), None, None], [1204, 0, 0]);
        assert_eq!(sentence(&unknown, false).unwrap(), "Faster than 83 % of 1,204 proven runs.");
    }

    #[test]
    fn nothing_is_said_twice() {
        let alone = standing([Some(0.5); 3], [7, 7, 7]);
        assert_eq!(sentence(&alone, true).unwrap(), "Faster than 50 % of 7 proven runs, all on this device.");
        let vendor = standing([Some(0.5), Some(0.25), Some(0.5)], [7, 2, 7]);
        assert_eq!(
            sentence(&vendor, true).unwrap(),
            "Faster than 50 % of 7 proven runs, all of this vendor; than 25 % of 2 on this device."
        );
        let first = standing([Some(0.9), Some(0.5), Some(0.5)], [7, 1, 1]);
        assert_eq!(sentence(&first, true).unwrap(), "Faster than 90 % of 7 proven runs; the only one on this device.");
    }

    #[test]
    fn the_first_proven_run_is_compared_with_nobody() {
        assert_eq!(sentence(&standing([None; 3], [0; 3]), false), None);
        let one = standing([Some(0.5); 3], [1; 3]);
        assert!(sentence(&one, true).unwrap().starts_with("This is the only proven run"));
        assert!(sentence(&one, false).unwrap().starts_with("It stands beside the only proven run"));
    }

    #[test]
    fn nearly_all_is_not_all() {
        assert_eq!([0.0, 0.001, 0.506, 0.999, 1.0].map(percent), ["0 %", "1 %", "51 %", "99 %", "100 %"]);
    }

    fn tax(native_over_browser: f64) -> BrowserTaxOfDevice {
        BrowserTaxOfDevice {
            suite: Suite { name: "quick".to_owned(), version: 1 },
            workload: "caffe-mnist".to_owned(),
            backend: "wgsl".to_owned(),
            precision: Precision::F32,
            native_over_browser,
            native_submitters: 1,
            browser_submitters: 12,
        }
    }

    #[test]
    fn what_a_browser_costs_is_a_share_of_the_programs_rate() {
        assert_eq!(browser_tax(&tax(1.25)), "a browser trains 20 % slower than a program");
        assert_eq!(browser_tax(&tax(0.8)), "a browser trains 25 % faster than a program");
        assert_eq!(browser_tax(&tax(1.004)), "a browser trains as fast as a program");
        assert_eq!(tax_submitters(&tax(1.0)), "1 submitter with programs, 12 with browsers");
    }
}
