//! Kernels by themselves: what the devices can do at best, and how near to it each suite comes.

mod suite;

use results::kernels::{KernelSummary, Pass, Peak, Suite};

use crate::csv::{Sheet, Value};
use crate::gathered::Gathered;
use crate::kernels::{OnDevice, of_pass, suites};
use crate::plot::{Bar, Bars, Figure};
use crate::report::{Block, Column, Section, Table};
use crate::text;

/// A section of the whole, and one for each suite that has entries.
pub(super) fn sections(gathered: &Gathered<'_>) -> Vec<Section> {
    let devices = &gathered.kernels;
    if devices.is_empty() {
        return Vec::new();
    }
    let suites = suites(devices);
    let mut blocks = Vec::new();
    if !suites.is_empty() {
        blocks.push(Block::Figures(vec![Figure::Bars(medians(devices, &suites))]));
        blocks.push(Block::Table(shares(devices, &suites)));
    }
    blocks.push(Block::Table(peaks(devices)));
    let first = Section { title: "Kernels by themselves".to_owned(), blocks };
    [first].into_iter().chain(suites.into_iter().map(|suite| suite::section(devices, suite))).collect()
}

/// What each device can do at best.
fn peaks(devices: &[OnDevice<'_>]) -> Table {
    let all: Vec<(&OnDevice<'_>, &Peak)> =
        devices.iter().flat_map(|device| device.peaks().into_iter().map(move |peak| (device, peak))).collect();
    let mut sheet = Sheet::new(&["device", "peak", "unit", "value", "relative_spread", "variant"]);
    sheet.rows = all
        .iter()
        .map(|(device, peak)| {
            let unit = serde_json::to_value(peak.unit).ok().and_then(|unit| unit.as_str().map(str::to_owned));
            vec![
                Value::from(device.name.as_str()),
                Value::from(peak.title.as_str()),
                unit.map_or(Value::Empty, Value::Text),
                Value::Number(peak.value),
                Value::Number(peak.timing.relative_spread()),
                Value::from(peak.variant.as_str()),
            ]
        })
        .collect();
    let row = |(device, peak): (&OnDevice<'_>, &Peak)| {
        vec![
            device.name.clone(),
            peak.title.clone(),
            text::peak(peak.unit, peak.value),
            spread(peak.timing.relative_spread()),
            peak.variant.clone(),
        ]
    };
    Table {
        caption: "What the devices can do at best, each from the median of its windows.".to_owned(),
        columns: vec![
            Column::text("Device"),
            Column::text("Peak"),
            Column::number("Best"),
            Column::number("Spread"),
            Column::text("With"),
        ],
        rows: all.into_iter().map(row).collect(),
        sheet,
        is_folded: false,
    }
}

/// Half the distance of the slowest window from the fastest, as a share of the median.
fn spread(relative: f64) -> String {
    format!("±{}", text::percent(relative))
}

/// A bar for each suite and pass on each device.
fn medians(devices: &[OnDevice<'_>], suites: &[Suite]) -> Bars {
    let mut rows = Vec::new();
    for (suite, device) in suites.iter().flat_map(|suite| devices.iter().map(move |device| (*suite, device))) {
        let entries = device.entries(suite);
        for pass in Pass::ALL {
            let summary = KernelSummary::of(of_pass(&entries, pass));
            let on = if devices.len() > 1 { format!(" · {}", device.name) } else { String::new() };
            let name = format!("{}, {}{on}", suite.title(), pass.title());
            rows.extend(summary.peak_share.map(|share| Bar { name, values: vec![Some(share)] }));
        }
    }
    Bars {
        title: "Percent of the measured peak".to_owned(),
        note: "Median over the entries of a suite that have figures, each held to the peak of arithmetic that was measured in \
               turns with it."
            .to_owned(),
        parts: vec!["share of the peak of arithmetic, median".to_owned()],
        unit: "share".to_owned(),
        show: text::percent,
        rows,
    }
}

/// The same with how far entries are apart.
fn shares(devices: &[OnDevice<'_>], suites: &[Suite]) -> Table {
    let names = ["device", "suite", "pass", "entries", "measured", "median_share", "lowest_share", "highest_share"];
    let mut sheet = Sheet::new(&[&names[..], &["highest_flops_per_second"]].concat());
    let mut rows = Vec::new();
    for (suite, device) in suites.iter().flat_map(|suite| devices.iter().map(move |device| (*suite, device))) {
        let entries = device.entries(suite);
        for pass in Pass::ALL {
            let of = KernelSummary::of(of_pass(&entries, pass));
            if of.entries == 0 {
                continue;
            }
            sheet.rows.push(vec![
                Value::from(device.name.as_str()),
                Value::from(suite.name()),
                Value::from(pass.title()),
                Value::Number(of.entries as f64),
                Value::Number(of.measured as f64),
                Value::from(of.peak_share),
                Value::from(of.peak_share_lowest),
                Value::from(of.peak_share_highest),
                Value::from(of.flops_per_second),
            ]);
            let percent = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), text::percent);
            rows.push(vec![
                format!("{}, {}", suite.title(), pass.title()),
                device.name.clone(),
                format!("{} of {}", of.measured, of.entries),
                percent(of.peak_share),
                percent(of.peak_share_lowest),
                percent(of.peak_share_highest),
                of.flops_per_second.map_or_else(|| "–".to_owned(), text::flops),
            ]);
        }
    }
    let numbers = ["Measured", "Median of peak", "Lowest", "Highest", "Best rate"].into_iter().map(Column::number);
    Table {
        caption: "Shares of the measured peak, by suite and pass.".to_owned(),
        columns: ["Suite and pass", "Device"].into_iter().map(Column::text).chain(numbers).collect(),
        rows,
        sheet,
        is_folded: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{input_of_kernels, kernels};

    #[test]
    fn kernels_have_their_peaks_their_shares_and_a_section_for_each_suite() {
        let entries = [
            ("8 × 8 × 8", Pass::Forward, Some(0.5)),
            ("8 × 8 × 8", Pass::WeightGradient, Some(0.25)),
            ("9 × 9 × 9", Pass::Forward, None),
        ];
        let input = input_of_kernels(vec![kernels("A GPU", &entries)]);
        let sections = sections(&Gathered::of(&input));
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["Kernels by themselves", "Matrix products"]);
        let [Block::Figures(figures), Block::Table(shares), Block::Table(peaks)] = sections[0].blocks.as_slice() else {
            panic!("a figure and two tables")
        };
        assert_eq!(peaks.rows[0][1..4], ["Arithmetic, fused multiply-adds", "1.000 TFLOP/s", "±1.00 %"]);
        let csv = figures[0].sheet().csv();
        assert!(csv.contains("\"Matrix products, forward\",0.5\n"), "{csv}");
        assert!(csv.contains("\"Matrix products, weight gradient\",0.25\n"), "{csv}");
        assert_eq!(shares.rows[0][2..5], ["1 of 2", "50.00 %", "50.00 %"]);
    }

    #[test]
    fn runs_alone_have_no_section_of_kernels() {
        assert!(sections(&Gathered::of(&input_of_kernels(Vec::new()))).is_empty());
    }
}
