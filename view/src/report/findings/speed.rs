//! Findings about speed: backends, threads, devices, layouts, input and cold starts.

use results::{InputMode, Layout};

use crate::report::difference::{AccuracyDifference, Contrast, SpeedRatio};
use crate::report::findings::{Finding, FindingRule, Kind, along, each_workload, metrics, subject};
use crate::report::group::{Group, PHASES, RunCost, SetupField, equal_but, labels};
use crate::report::lines::{Same, Sweep, SweepAxis};
use crate::text;

pub(super) const FASTEST: FindingRule =
    FindingRule { title: "Fastest backend", find: |gathered| each_workload(gathered, find_fastest) };

pub(super) const THREADS: FindingRule = FindingRule {
    title: "Threads",
    find: |gathered| each_workload(gathered, |groups| along(groups, SweepAxis::Threads, compare_threads)),
};

pub(super) const DEVICES: FindingRule = FindingRule {
    title: "Devices",
    find: |gathered| {
        each_workload(gathered, |groups| {
            [SweepAxis::Devices, SweepAxis::FedDevices].map(|axis| along(groups, axis, compare_devices)).concat()
        })
    },
};

pub(super) const INPUT: FindingRule = FindingRule {
    title: "Input",
    find: |gathered| {
        each_workload(gathered, |groups| {
            let streamed = groups.iter().filter(|group| group.input() != InputMode::Resident);
            streamed.filter_map(|group| compare_with_resident(groups, group)).collect::<Vec<_>>()
        })
    },
};

pub(super) const LAYOUTS: FindingRule = FindingRule {
    title: "Layouts",
    find: |gathered| {
        each_workload(gathered, |groups| {
            let pairs = groups.iter().flat_map(|base| groups.iter().map(move |other| (base, other)));
            pairs.filter_map(|(base, other)| compare_layouts(groups, base, other)).collect::<Vec<_>>()
        })
    },
};

pub(super) const COLD_START: FindingRule =
    FindingRule { title: "Cold start", find: |gathered| each_workload(gathered, find_cold_start) };

/// Smallest speed-up from more threads that does not count as flat.
const MIN_GAIN: f64 = 1.1;
/// Baseline layout of comparisons.
const BASE_LAYOUT: Layout = Layout::Nhwc;
/// Smallest share of a cold start worth mentioning.
const MIN_COLD_START_SHARE: f64 = 0.1;

/// Compares the backends and devices in the largest set of otherwise equal groups.
fn find_fastest(groups: &[&Group<'_>]) -> Option<Finding> {
    // External programs report a layout, but built-in backends do not.
    let fields = [SetupField::Backend, SetupField::Device, SetupField::Threads, SetupField::Layout];
    let mut sets = equal_but(groups.iter().copied().filter(|group| group.is_completed()), &fields);
    // Other rules compare threads and layouts.
    let own = [SetupField::Threads, SetupField::Layout];
    sets.retain(|set| set.iter().any(|group| !group.equals_but(set[0], &own)));
    let most = sets.iter().map(Vec::len).max()?;
    let mut set = sets.into_iter().find(|set| set.len() == most)?;
    set.retain(|group| group.counted_rates().is_some());
    let rate = |group: &Group<'_>| group.rate().map_or(0.0, |(rate, _)| rate);
    set.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    let (first, second) = (set.first()?, set.get(1)?);
    let (name, labels) = (first.workload, labels(&set));
    let ratio = SpeedRatio::of(second, first)?;
    let lead = ratio.text(&labels[1]);
    let sentence = match ratio.contrast {
        Contrast::Higher => {
            format!("{name} trains fastest on {}: {}, {lead}.", labels[0], text::rate(rate(first)))
        }
        Contrast::Tied => {
            let is_tied =
                |group: &Group<'_>| SpeedRatio::of(group, first).is_some_and(|ratio| ratio.contrast == Contrast::Tied);
            let tied = set.iter().zip(&labels).skip(1).filter(|(group, _)| is_tied(group)).map(|(_, label)| label);
            let all: Vec<String> = labels.first().into_iter().chain(tied).cloned().collect();
            format!("{name}: {} are tied as the fastest; the first is {lead}.", text::listed(&all))
        }
        // The order uses medians, and the ratio geometric means.
        Contrast::Lower => return None,
        Contrast::Undecided => format!("{name}: {} is ahead, {lead}.", labels[0]),
    };
    let numbers = set.iter().zip(&labels).map(|(group, label)| metrics(label, group));
    Some(Finding::new(ratio.contrast.into(), sentence, numbers))
}

fn compare_threads(groups: &[&Group<'_>], line: &Sweep<'_, '_>) -> Option<Finding> {
    let points = line.counted_points();
    let ((fewest, base), others) = points.split_first()?;
    let ratios = others.iter().filter_map(|(threads, group)| Some((*threads, SpeedRatio::of(base, group)?)));
    let (threads, best) = ratios.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let name = |count: f64| text::counted(count, "thread");
    let (most, least) = (name(threads), name(*fewest));
    let lead = best.text(&least);
    let sentence = match best.contrast {
        Contrast::Higher => {
            let of_ideal = text::whole_percent(best.value / (threads / fewest));
            let flat = first_flat_step(&points).map(|(from, to, gain)| {
                let gain = text::times(gain);
                format!(". It flattens at {}: {} reach {gain} times its speed", name(from), name(to))
            });
            let flat = flat.unwrap_or_default();
            format!("{most} are {lead}, {of_ideal} of the ideal{flat}")
        }
        Contrast::Tied | Contrast::Lower => {
            format!("no number of threads is faster than {least} ({} times with {most})", text::times(best.value))
        }
        Contrast::Undecided => format!("{most} were {lead}"),
    };
    let text = format!("{}: {sentence}.", subject(groups, base, &[SetupField::Threads]));
    let numbers = points.iter().map(|(threads, group)| metrics(&name(*threads), group));
    Some(Finding::new(best.contrast.into(), text, numbers))
}

/// Returns the first two thread counts with little gain between them, and the gain.
fn first_flat_step(points: &[(f64, &Group<'_>)]) -> Option<(f64, f64, f64)> {
    points.windows(2).find_map(|pair| {
        let [(from, before), (to, after)] = pair else { return None };
        let gain = SpeedRatio::of(before, after)?;
        let is_flat = match gain.contrast {
            Contrast::Higher => gain.value < MIN_GAIN,
            Contrast::Tied | Contrast::Lower => true,
            Contrast::Undecided => false,
        };
        is_flat.then_some((*from, *to, gain.value))
    })
}

fn compare_devices(groups: &[&Group<'_>], line: &Sweep<'_, '_>) -> Option<Finding> {
    let points = line.counted_points();
    let ((fewest, base), (most, last)) = (points.first()?, points.get(1..)?.last()?);
    let ratio = SpeedRatio::of(base, last)?;
    let name = |count: f64| text::counted(count, "device");
    let (axis, batch) = match line.same {
        Same::PerDevice(samples) => (SweepAxis::FedDevices, format!("{samples} samples per device")),
        _ => (SweepAxis::Devices, format!("batches of {} divided", base.settings().batch_size)),
    };
    let communication = last.communication().map(|share| format!("; communication took {}", text::percent(share)));
    let is_software = last.runs.iter().any(|run| run.record.device.adapter.software);
    let logical =
        if is_software { ". They are logical devices of one software adapter and share its cores" } else { "" };
    let text = format!(
        "{}: with {batch}, {} are {}{}, {} of the ideal{}{logical}.",
        subject(groups, base, axis.fields()),
        name(*most),
        ratio.text(&name(*fewest)),
        ratio.chance_text(),
        text::whole_percent(ratio.value / (most / fewest)),
        communication.unwrap_or_default(),
    );
    let numbers = points.iter().map(|(count, group)| metrics(&name(*count), group));
    Some(Finding::new(ratio.contrast.into(), text, numbers))
}

fn compare_with_resident(groups: &[&Group<'_>], streamed: &Group<'_>) -> Option<Finding> {
    let waiting = text::percent(streamed.input_share()?);
    let is_counterpart =
        |group: &&Group<'_>| group.input() == InputMode::Resident && group.equals_but(streamed, &[SetupField::Input]);
    let resident = groups.iter().copied().find(is_counterpart);
    let ratio = resident.and_then(|resident| SpeedRatio::of(resident, streamed));
    let compared =
        ratio.map(|ratio| format!(", training is {}{}", ratio.text("with the data set resident"), ratio.chance_text()));
    let text = format!(
        "{}: with input {}{}; {waiting} of the step waits for input.",
        subject(groups, streamed, &[SetupField::Input]),
        streamed.input().text(),
        compared.unwrap_or_default(),
    );
    let numbers = resident.into_iter().chain([streamed]).map(|group| metrics(group.input().text(), group));
    Some(Finding::new(ratio.map_or(Kind::Figure, |ratio| ratio.contrast.into()), text, numbers))
}

/// Compares a group of the base layout with one that differs only in its layout.
fn compare_layouts(groups: &[&Group<'_>], base: &Group<'_>, other: &Group<'_>) -> Option<Finding> {
    let layouts = (base.settings().layout, other.settings().layout);
    let is_pair = matches!(layouts, (Some(BASE_LAYOUT), Some(layout)) if layout != BASE_LAYOUT);
    if !is_pair || !base.equals_but(other, &[SetupField::Layout]) {
        return None;
    }
    let ratio = SpeedRatio::of(base, other)?;
    let name = |group: &Group<'_>| group.joined(&[SetupField::Layout], "");
    let learned = AccuracyDifference::of(base, other);
    let text = format!(
        "{}: {} is {}{}{}.",
        subject(groups, base, &[SetupField::Layout]),
        name(other),
        ratio.text(&name(base)),
        ratio.chance_text(),
        learned.map(|learned| format!("; {}", learned.text())).unwrap_or_default(),
    );
    let numbers = [base, other].map(|group| metrics(&name(group), group));
    Some(Finding::new(Kind::of_both(ratio.contrast, learned), text, numbers))
}

fn find_cold_start(groups: &[&Group<'_>]) -> Option<Finding> {
    let mut known = Vec::new();
    for (group, label) in groups.iter().zip(labels(groups)) {
        let seconds = group.median_of(|run| run.workload.cold_start.seconds());
        if let (Some(seconds), Some(training)) = (seconds, group.training_seconds()) {
            known.push((seconds / (seconds + training), seconds, group, label));
        }
    }
    known.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (share, worst, group, label) = known.first().filter(|worst| worst.0 >= MIN_COLD_START_SHARE)?;
    let is_long = |(_, phase): &&RunCost| group.median_of(phase).is_some_and(|seconds| seconds > worst / 2.0);
    let longest = PHASES.iter().find(is_long);
    let text = format!(
        "{}: before training, {label} takes {}, {} of the time until its last test{}.",
        group.workload,
        text::seconds(*worst),
        text::whole_percent(*share),
        longest.map(|(phase, _)| format!("; most of it is {phase}")).unwrap_or_default()
    );
    let line = |(share, seconds, _, label): &(f64, f64, _, String)| {
        format!("{label}: {}, {} of the time", text::seconds(*seconds), text::whole_percent(*share))
    };
    Some(Finding::new(Kind::Figure, text, known.iter().map(line)))
}

#[cfg(test)]
mod tests {
    use results::Departure;

    use super::*;
    use crate::report::testing::{MadeRun, expect, found};

    fn made(backend: &str, rate: f64) -> MadeRun {
        MadeRun::new("caffe-mnist").backend(backend).rate(rate)
    }

    #[test]
    fn faster_of_two_is_named_with_its_lead() {
        let pair = |rate, other| found(&FASTEST, [made("wgsl", rate), made("burn-flex", other)]);
        let faster = pair(12_000.0, 25_200.0);
        let parts = ["caffe-mnist trains fastest on burn-flex", "2.10 times as fast as wgsl"];
        expect(&faster, Kind::Difference, &parts);
        assert!(faster[0].numbers[1].starts_with("wgsl: 12.00 k samples/s"), "{:?}", faster[0].numbers);
        expect(&pair(10_000.0, 10_020.0), Kind::Tie, &["burn-flex and wgsl are tied as the fastest"]);
        let of = |name: &str, rates: [f64; 2]| [made(name, rates[0]), made(name, rates[1]).seed(2)];
        let wide = found(&FASTEST, [of("wgsl", [1.0e4, 2.0e4]), of("burn-flex", [1.1e4, 2.1e4])].concat());
        expect(&wide, Kind::Undecided, &["burn-flex is ahead", "measure more windows or seeds"]);
    }

    #[test]
    fn fewer_than_five_counted_windows_make_no_finding() {
        let count = |windows| {
            let pair = [("wgsl", 10_000.0), ("burn-flex", 30_000.0)];
            found(&FASTEST, pair.map(|(name, rate)| made(name, rate).windows(windows))).len()
        };
        assert_eq!((count(1), count(5), count(6)), (0, 0, 1), "the first window is warm-up");
    }

    #[test]
    fn programs_with_a_layout_are_contenders_but_not_batches_and_threads() {
        let program = |layout, rate| {
            let external = Departure::External { program: "pytorch".to_owned() };
            made("pytorch", rate).layout(layout).departure(external)
        };
        let others = [made("wgsl", 10_000.0), made("burn-flex", 12_000.0)];
        let three = found(&FASTEST, others.into_iter().chain([program(Layout::Nhwc, 25_200.0)]));
        expect(&three, Kind::Difference, &["trains fastest on pytorch", "2.10 times as fast as burn-flex"]);
        assert_eq!(three[0].numbers.len(), 3);
        assert_eq!(found(&FASTEST, [program(Layout::Nhwc, 1e4), program(Layout::Nchw, 2e4)]), []);
        let other = made("wgsl", 1e4).batch_size(500);
        assert_eq!(found(&FASTEST, [made("burn-flex", 1e4), made("burn-flex", 2e4).seed(2), other]), []);
        assert_eq!(found(&FASTEST, [1, 2].map(|count| MadeRun::new("caffe-mnist").threads(count))), []);
    }

    #[test]
    fn speed_up_by_threads_flattens_or_not() {
        let of = |rates: &[(u32, f64)]| {
            let made = |(count, rate): &(u32, f64)| MadeRun::new("caffe-mnist").threads(*count).rate(*rate);
            found(&THREADS, rates.iter().map(made))
        };
        let parts = [
            "4 threads are 1.85 times as fast as 1 thread",
            "46 % of the ideal",
            "It flattens at 2 threads: 4 threads reach 1.03 times its speed",
        ];
        expect(&of(&[(1, 1e4), (2, 1.8e4), (4, 1.85e4)]), Kind::Difference, &parts);
        let steep = of(&[(1, 1e4), (2, 1.9e4), (4, 3.6e4)]);
        expect(&steep, Kind::Difference, &["4 threads are 3.60 times as fast", "90 % of the ideal."]);
        assert!(!steep[0].text.contains("flattens"), "{}", steep[0].text);
        expect(&of(&[(1, 1e4), (2, 1.001e4)]), Kind::Tie, &["no number of threads is faster than 1 thread"]);
        assert_eq!(of(&[(2, 1e4)]), []);
    }

    #[test]
    fn devices_scale_strongly_and_weakly() {
        let made = |devices, batch, rate| MadeRun::new("caffe-mnist").devices(devices).batch_size(batch).rate(rate);
        let all = found(&DEVICES, [made(1, 60, 1e4), made(2, 60, 1.2e4), made(2, 120, 1.8e4), made(4, 61, 1e4)]);
        assert_eq!(all.len(), 2, "61 samples do not divide evenly");
        let parts = ["with batches of 60 divided, 2 devices are 1.20 times as fast as 1 device", "60 % of the ideal"];
        expect(&all, Kind::Difference, &parts);
        let parts =
            ["with 60 samples per device, 2 devices are 1.80 times", "90 % of the ideal", "communication took 10"];
        expect(&all[1..], Kind::Difference, &parts);
        assert!(!all[1].text.contains("logical"), "{}", all[1].text);
        let logical = found(&DEVICES, [made(1, 60, 1e4), made(2, 60, 0.8e4)].map(MadeRun::software));
        expect(&logical, Kind::Difference, &["0.80 times", "share its cores."]);
    }

    #[test]
    fn streamed_input_is_compared_with_resident_data() {
        let made = |mode, rate| MadeRun::new("caffe-mnist").input(mode).rate(rate);
        let both = found(&INPUT, [made(InputMode::Resident, 1e4), made(InputMode::Stream, 0.8e4)]);
        let parts = [
            "with input streamed without prefetch, training is 0.80 times as fast as with the data set resident",
            "; 10.00 % of the step waits for input.",
        ];
        expect(&both, Kind::Difference, &parts);
        assert_eq!((both.len(), both[0].numbers.len()), (1, 2));
        let alone = found(&INPUT, [made(InputMode::Prefetch, 1e4)]);
        expect(&alone, Kind::Figure, &["with input streamed with prefetch; 10.00 % of the step waits"]);
    }

    #[test]
    fn layouts_are_compared_in_speed_and_accuracy() {
        let made = |layout, rate, accuracy| {
            made("pytorch", rate).layout(layout).departure(Departure::Layout { layout }).accuracy(accuracy)
        };
        let faster = found(&LAYOUTS, [made(Layout::Nhwc, 1e4, 0.9), made(Layout::Nchw, 1.5e4, 0.9)]);
        expect(&faster, Kind::Difference, &["NCHW is 1.50 times as fast as NHWC"]);
        assert_eq!(faster.len(), 1);
        let of = |accuracy| found(&LAYOUTS, [made(Layout::Nhwc, 1e4, 0.95), made(Layout::Nchw, 1e4, accuracy)]);
        expect(&of(0.951), Kind::Tie, &["no difference of accuracy was found"]);
        expect(&of(0.85), Kind::Difference, &["it loses 10 points of accuracy, more than"]);
        assert_eq!(found(&LAYOUTS, [made(Layout::Nchw, 1e4, 0.9)]), []);
    }

    #[test]
    fn longest_cold_start_is_named_with_its_longest_phase() {
        // Ten thousand samples per second, for 60,000 samples: 6 s.
        let made = |name, tuning| {
            made(name, 1e4).steps(600).cold_start([Some(100.0), Some(0.5), None, Some(tuning), Some(0.1)])
        };
        let slow = found(&COLD_START, [made("wgsl", 0.1), made("burn-wgpu", 5.4)]);
        expect(&slow, Kind::Figure, &["burn-wgpu takes 6.000 s, 50 % of the time", "most of it is tuning"]);
        assert_eq!(slow[0].numbers.len(), 2);
        assert_eq!(found(&COLD_START, [made("wgsl", 0.0)]), []);
    }
}
