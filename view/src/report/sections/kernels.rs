//! Sections about kernels without a network: device peaks, and the entries of each suite.

use std::collections::BTreeSet;

use results::kernels::{Entry, KernelFigures, KernelSuite, KernelSummary, Pass, Peak};

use crate::chart::{AxisQuantity, Bar, Bars, Extent, Look, Plot, Point, Series, Strand};
use crate::report::html::{ReportBlock, Section};
use crate::report::input::GatheredRuns;
use crate::report::kernels::{OnDevice, PublishedKernel, filter_pass, published, rate, reason, share, suites, title};
use crate::report::plot::Figure;
use crate::report::table::{Table, hidden, number, shown, words};
use crate::text;

const GIGA: f64 = 1e9;

/// Returns a section about all kernels, and one for each suite with entries.
pub(super) fn sections(gathered: &GatheredRuns<'_>) -> Vec<Section> {
    let devices = &gathered.kernels;
    if devices.is_empty() {
        return Vec::new();
    }
    let suites = suites(devices);
    let mut blocks = Vec::new();
    if !suites.is_empty() {
        let rows = pass_rows(devices, &suites);
        blocks.push(ReportBlock::Figures(medians(devices, &rows).into_iter().collect()));
        blocks.push(ReportBlock::Table(shares(&rows)));
    }
    blocks.push(ReportBlock::Table(peaks(devices)));
    [Section::new("Kernel benchmarks", blocks)]
        .into_iter()
        .chain(suites.into_iter().map(|suite| suite_section(devices, suite)))
        .collect()
}

fn peaks(devices: &[OnDevice<'_>]) -> Table {
    let all = devices.iter().flat_map(|device| device.peaks().into_iter().map(move |peak| (device, peak)));
    let rows: Vec<(&OnDevice<'_>, &Peak)> = all.collect();
    let columns = [
        words("Device", "device", |(device, _): &(&OnDevice<'_>, &Peak)| device.name.clone().into()),
        words("Peak", "peak", |(_, peak)| peak.title.clone().into()),
        hidden("unit", |(_, peak)| {
            let unit = serde_json::to_value(peak.unit).ok();
            unit.and_then(|unit| unit.as_str().map(str::to_owned)).into()
        }),
        number("Best", "value", |(_, peak)| shown(peak.value, |value| text::peak(peak.unit, value))),
        number("Spread", "relative_spread", |(_, peak)| shown(peak.timing.relative_spread(), spread)),
        words("With", "variant", |(_, peak)| peak.variant.clone().into()),
    ];
    Table::of("Peak rates of the devices, each the median of its windows.", &rows, &columns)
}

fn spread(relative: f64) -> String {
    format!("±{}", text::percent(relative))
}

/// Draws the median share of each suite and pass on each device.
fn medians(devices: &[OnDevice<'_>], rows: &[PassRow<'_>]) -> Option<Figure> {
    let bar = |row: &PassRow<'_>| {
        let on = if devices.len() > 1 { format!(" · {}", row.device) } else { String::new() };
        let name = format!("{}, {}{on}", row.suite.title(), row.pass.title());
        Some(Bar { name, values: vec![Some(row.summary.peak_share?)] })
    };
    let note = "Median over the measured entries of a suite, each divided by the peak of arithmetic that was measured \
                in turns with it.";
    let parts = vec!["share of the peak of arithmetic, median".to_owned()];
    let rows = rows.iter().filter_map(bar).collect();
    let bars = Bars { parts, unit: "share".to_owned(), show: text::percent, rows };
    Figure::of_bars("Percent of the measured peak", note.to_owned(), bars)
}

/// Entries of one suite and pass on one device.
struct PassRow<'d> {
    device: &'d str,
    suite: KernelSuite,
    pass: Pass,
    summary: KernelSummary,
}

/// Summarizes each suite and pass with entries on each device.
fn pass_rows<'d>(devices: &'d [OnDevice<'_>], suites: &[KernelSuite]) -> Vec<PassRow<'d>> {
    let mut rows: Vec<PassRow<'_>> = Vec::new();
    for (suite, device) in suites.iter().flat_map(|suite| devices.iter().map(move |device| (*suite, device))) {
        let entries = device.entries(suite);
        rows.extend(Pass::ALL.map(|pass| {
            let summary = KernelSummary::of(filter_pass(&entries, pass));
            PassRow { device: &device.name, suite, pass, summary }
        }));
    }
    rows.retain(|row| row.summary.entries > 0);
    rows
}

/// Lists the shares of the peak for each suite and pass on each device.
fn shares(rows: &[PassRow<'_>]) -> Table {
    let columns = [
        words("Suite and pass", "", |row: &PassRow<'_>| format!("{}, {}", row.suite.title(), row.pass.title()).into()),
        words("Device", "device", |row| row.device.to_owned().into()),
        hidden("suite", |row| row.suite.name().into()),
        hidden("pass", |row| row.pass.title().into()),
        number("Measured", "", |row| format!("{} of {}", row.summary.measured, row.summary.entries).into()),
        hidden("entries", |row| row.summary.entries.into()),
        hidden("measured", |row| row.summary.measured.into()),
        number("Median of peak", "median_share", |row| shown(row.summary.peak_share, text::percent)),
        number("Lowest", "lowest_share", |row| shown(row.summary.peak_share_lowest, text::percent)),
        number("Highest", "highest_share", |row| shown(row.summary.peak_share_highest, text::percent)),
        number("Best rate", "highest_flops_per_second", |row| shown(row.summary.flops_per_second, text::flops)),
    ];
    Table::of("Shares of the measured peak, by suite and pass.", rows, &columns)
}

fn suite_section(devices: &[OnDevice<'_>], suite: KernelSuite) -> Section {
    let all: Vec<(&OnDevice<'_>, &Entry)> =
        devices.iter().flat_map(|device| device.entries(suite).into_iter().map(move |entry| (device, entry))).collect();
    let figures: Vec<Figure> =
        [plot_shares(devices, suite), plot_rates(devices, suite)].into_iter().flatten().collect();
    let mut blocks = vec![ReportBlock::Text(about(suite).to_owned())];
    if !figures.is_empty() {
        blocks.push(ReportBlock::Figures(figures));
    }
    let tables = [published_table(&all), measured_table(suite, &all), left_out_table(suite, &all)];
    blocks.extend(tables.into_iter().flatten().map(ReportBlock::Table));
    Section::new(suite.title(), blocks)
}

fn about(suite: KernelSuite) -> &'static str {
    match suite {
        KernelSuite::Gemm => "Sizes are M × N × K as in DeepBench: a layer with M units and K inputs, on a batch of N.",
        KernelSuite::Conv => "Sizes are samples × width×height×channels → filters, kernel.",
        KernelSuite::Rnn => {
            "Sizes are units, sequences × steps. As in DeepBench, products of a layer's input are excluded, and only \
             operations of the recurrent weights count."
        }
        KernelSuite::Arithmetic | KernelSuite::Memory | KernelSuite::Launch => "Peaks of the device.",
    }
}

fn series(devices: &[OnDevice<'_>], suite: KernelSuite, figure: fn(&Entry) -> Option<f64>) -> Vec<Series> {
    let mut series = Vec::new();
    for device in devices {
        let entries = device.entries(suite);
        for pass in Pass::ALL {
            let point = |entry: &Entry| Some(Point::new(entry.flops as f64 / GIGA, figure(entry)?));
            let strand = |entry: &&Entry| Some(Strand::named(&entry.size, vec![point(entry)?]));
            let strands: Vec<Strand> = filter_pass(&entries, pass).iter().filter_map(strand).collect();
            if strands.is_empty() {
                continue;
            }
            let on = if devices.len() > 1 { format!(" · {}", device.name) } else { String::new() };
            let name = format!("{}{on}", pass.title());
            series.push(Series::new(name, Look::Marks(series.len()), strands));
        }
    }
    series
}

fn operations() -> AxisQuantity {
    AxisQuantity::new("GFLOP of an entry", Extent::Decades)
}

fn plot_shares(devices: &[OnDevice<'_>], suite: KernelSuite) -> Option<Figure> {
    let y = AxisQuantity::share("share of the measured peak", Extent::FromZero);
    let note = format!("{}. A mark for each measured entry.", suite.title());
    let plot = Plot::new(operations(), y, series(devices, suite, share));
    Figure::of_plot("Share of the peak over operations".to_owned(), note, plot)
}

fn plot_rates(devices: &[OnDevice<'_>], suite: KernelSuite) -> Option<Figure> {
    let mut all = series(devices, suite, |entry| Some(rate(entry)? / GIGA));
    let entries: Vec<&Entry> = devices.iter().flat_map(|device| device.entries(suite)).collect();
    if !all.is_empty() {
        all.extend(published_series(&entries));
    }
    let remark = if all.iter().any(Series::is_published) {
        " Hollow marks are DeepBench's, from other hardware with the vendors' libraries."
    } else {
        ""
    };
    let note = format!("{}. A mark for each measured entry.{remark}", suite.title());
    let plot = Plot::new(operations(), AxisQuantity::new("GFLOP/s", Extent::Decades), all);
    Figure::of_plot("Rate over operations".to_owned(), note, plot)
}

/// Returns the published rates of these sizes by hardware, measured here or not.
fn published_series(entries: &[&Entry]) -> Vec<Series> {
    let mut rows: Vec<(&Entry, &PublishedKernel)> =
        entries.iter().filter_map(|entry| Some((*entry, published(entry)?))).collect();
    let mut sizes = BTreeSet::new();
    rows.retain(|(entry, _)| sizes.insert(&entry.size));
    Series::published(rows.into_iter().map(|(entry, row)| {
        let points = vec![Point::new(entry.flops as f64 / GIGA, row.flops_per_second() / GIGA)];
        (format!("published: {}", row.hardware), Strand::named(&entry.size, points))
    }))
}

fn published_table(all: &[(&OnDevice<'_>, &Entry)]) -> Option<Table> {
    let rows: Vec<(&OnDevice<'_>, &Entry, &PublishedKernel)> = all
        .iter()
        .filter(|(_, entry)| entry.outcome.measured().is_some())
        .filter_map(|(device, entry)| Some((*device, *entry, published(entry)?)))
        .collect();
    let columns = [
        words("Entry", "", |(_, entry, _): &(&OnDevice<'_>, &Entry, &PublishedKernel)| title(entry).into()),
        hidden("size", |(_, entry, _)| entry.size.clone().into()),
        hidden("pass", |(_, entry, _)| entry.pass.title().into()),
        words("Device", "device", |(device, ..)| device.name.clone().into()),
        number("Rate here", "flops_per_second", |(_, entry, _)| shown(rate(entry), text::flops)),
        number("Published rate", "published_flops_per_second", |(.., row)| shown(row.flops_per_second(), text::flops)),
        words("Published for", "published_hardware", |(.., row)| row.hardware.clone().into()),
        hidden("published_milliseconds", |(.., row)| row.time_ms.into()),
        hidden("note", |(.., row)| row.note.clone().into()),
        words("Where", "source", |(.., row)| row.citation.clone().into()),
    ];
    let caption = "Compared with DeepBench's published results: for each, the fastest device of its time, with the \
                   vendor's library, in single precision.";
    (!rows.is_empty()).then(|| Table::of(caption, &rows, &columns))
}

fn measured_table(suite: KernelSuite, all: &[(&OnDevice<'_>, &Entry)]) -> Option<Table> {
    let rows: Vec<(&OnDevice<'_>, &Entry, &KernelFigures)> =
        all.iter().filter_map(|(device, entry)| Some((*device, *entry, entry.outcome.measured()?))).collect();
    let columns = [
        words("Entry", "", |(_, entry, _): &(&OnDevice<'_>, &Entry, &KernelFigures)| title(entry).into()),
        words("Device", "device", |(device, ..)| device.name.clone().into()),
        hidden("size", |(_, entry, _)| entry.size.clone().into()),
        hidden("pass", |(_, entry, _)| entry.pass.title().into()),
        hidden("flops", |(_, entry, _)| entry.flops.into()),
        hidden("bytes", |(_, entry, _)| entry.bytes.into()),
        number("Time", "seconds", |(.., figures)| shown(figures.timing.seconds, text::seconds)),
        number("Spread", "relative_spread", |(.., figures)| shown(figures.timing.relative_spread(), spread)),
        number("Rate", "flops_per_second", |(.., figures)| shown(figures.flops_per_second, text::flops)),
        number("Peak", "peak_flops_per_second", |(.., figures)| shown(figures.peak_flops_per_second, text::flops)),
        number("Share of peak", "peak_share", |(.., figures)| shown(figures.peak_share, text::percent)),
        words("Kernels", "kernels", |(_, entry, _)| entry.kernels.join(" + ").into()),
    ];
    let caption = format!(
        "{}: all {} with results. Each has its own peak, measured in turns with its windows.",
        suite.title(),
        text::counted_entries(rows.len())
    );
    (!rows.is_empty()).then(|| Table::of(caption, &rows, &columns).folded())
}

fn left_out_table(suite: KernelSuite, all: &[(&OnDevice<'_>, &Entry)]) -> Option<Table> {
    let rows: Vec<(&OnDevice<'_>, &Entry, String)> =
        all.iter().filter_map(|(device, entry)| Some((*device, *entry, reason(entry)?))).collect();
    let columns = [
        words("Entry", "", |(_, entry, _): &(&OnDevice<'_>, &Entry, String)| title(entry).into()),
        words("Device", "device", |(device, ..)| device.name.clone().into()),
        hidden("size", |(_, entry, _)| entry.size.clone().into()),
        hidden("pass", |(_, entry, _)| entry.pass.title().into()),
        hidden("flops", |(_, entry, _)| entry.flops.into()),
        hidden("bytes", |(_, entry, _)| entry.bytes.into()),
        words("Why", "reason", |(.., reason)| reason.clone().into()),
    ];
    let entries = text::counted_entries(rows.len());
    let caption = format!("{}: {entries} without results, with reasons.", suite.title());
    (!rows.is_empty()).then(|| Table::of(caption, &rows, &columns).folded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{input_of_kernels, kernels};

    #[test]
    fn kernels_have_peaks_shares_and_suites() {
        let entries = [
            ("8 × 8 × 8", Pass::Forward, Some(0.5)),
            ("8 × 8 × 8", Pass::WeightGradient, Some(0.25)),
            ("9 × 9 × 9", Pass::Forward, None),
        ];
        let input = input_of_kernels(vec![kernels("A GPU", &entries)]);
        let sections = sections(&GatheredRuns::of(&input));
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["Kernel benchmarks", "Matrix products"]);
        let [ReportBlock::Figures(figures), ReportBlock::Table(shares), ReportBlock::Table(peaks)] =
            sections[0].blocks.as_slice()
        else {
            panic!("expected a plot and two tables")
        };
        assert_eq!(peaks.rows[0][1..4], ["Arithmetic, fused multiply-adds", "1.000 TFLOP/s", "±1.00 %"]);
        let csv = figures[0].sheet().csv();
        assert!(csv.contains("\"Matrix products, forward\",0.5\n"), "{csv}");
        assert!(csv.contains("\"Matrix products, weight gradient\",0.25\n"), "{csv}");
        assert_eq!(shares.rows[0][2..5], ["1 of 2", "50.00 %", "50.00 %"]);
    }

    #[test]
    fn runs_have_no_section_of_kernels() {
        assert!(sections(&GatheredRuns::of(&input_of_kernels(Vec::new()))).is_empty());
    }

    fn blocks(device: &str, entries: &[(&str, Pass, Option<f64>)]) -> Vec<ReportBlock> {
        let all = [kernels(device, entries)];
        suite_section(&OnDevice::of_all(&all), KernelSuite::Gemm).blocks
    }

    #[test]
    fn entries_are_drawn_by_pass_and_listed() {
        let entries = [
            ("8 × 8 × 8", Pass::Forward, Some(0.5)),
            ("8 × 8 × 8", Pass::InputGradient, Some(0.25)),
            ("4096 × 7000 × 4096", Pass::Forward, None),
        ];
        let blocks = blocks("A", &entries);
        let [
            ReportBlock::Text(_),
            ReportBlock::Figures(figures),
            ReportBlock::Table(measured),
            ReportBlock::Table(others),
        ] = blocks.as_slice()
        else {
            panic!("text, plots and two tables")
        };
        let csv = figures[0].sheet().csv();
        assert!(csv.contains("input gradient,measured here,8 × 8 × 8,0.000001024,0.25,,\n"), "{csv}");
        assert_eq!(measured.rows.len(), 2);
        assert_eq!(measured.rows[0][4..7], ["500.0 GFLOP/s", "1.000 TFLOP/s", "50.00 %"]);
        assert_eq!(others.rows[0][2], "one repetition takes about 3.000 s, but its budget is 500.0 ms");
    }

    #[test]
    fn published_rates_are_compared_by_size() {
        let blocks =
            blocks("A", &[("1760 × 128 × 1760", Pass::Forward, Some(0.5)), ("8 × 8 × 8", Pass::Forward, Some(0.5))]);
        let ReportBlock::Table(published) = &blocks[2] else { panic!("the published table comes first") };
        assert_eq!(published.rows.len(), 1);
        assert_eq!(published.rows[0][2..5], ["500.0 GFLOP/s", "7.930 TFLOP/s", "NVIDIA GTX 1080 Ti"]);
        let ReportBlock::Figures(figures) = &blocks[1] else { panic!("plots are missing") };
        assert!(figures[1].sheet().csv().contains("published: NVIDIA GTX 1080 Ti,published,1760 × 128 × 1760,"));
    }
}
