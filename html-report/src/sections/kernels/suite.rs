//! The entries of one suite: over their operations, beside what was published, and each by itself.

use results::kernels::{Entry, Pass, Suite};

use super::spread;
use crate::csv::{Sheet, Value};
use crate::kernels::{OnDevice, of_pass, rate, reason, share, title};
use crate::plot::{Extent, Figure, Look, Plot, Point, Quantity, Series, Strand};
use crate::published_kernels::beside;
use crate::report::{Block, Column, Section, Table};
use crate::text;

const GIGA: f64 = 1e9;

pub(super) fn section(devices: &[OnDevice<'_>], suite: Suite) -> Section {
    let all: Vec<(&OnDevice<'_>, &Entry)> =
        devices.iter().flat_map(|device| device.entries(suite).into_iter().map(move |entry| (device, entry))).collect();
    let plots = [shares(devices, suite), rates(devices, suite)];
    let figures: Vec<Figure> = plots.into_iter().filter(Plot::has_points).map(Figure::Plot).collect();
    let mut blocks = vec![Block::Text(about(suite).to_owned())];
    if !figures.is_empty() {
        blocks.push(Block::Figures(figures));
    }
    let (measured, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, entry)| entry.outcome.measured().is_some());
    blocks.extend(
        [published(&measured), entries(suite, &measured), left_out(suite, &others)]
            .into_iter()
            .flatten()
            .map(Block::Table),
    );
    Section { title: suite.title().to_owned(), blocks }
}

/// How sizes are written.
fn about(suite: Suite) -> &'static str {
    match suite {
        Suite::Gemm => "Sizes are M × N × K as in DeepBench: a layer with M units and K inputs, on a batch of N.",
        Suite::Conv => "Sizes are samples × width×height×channels → filters, kernel.",
        Suite::Rnn => {
            "Sizes are units, sequences × steps. The products with a layer's input are left out, as in DeepBench; operations \
             are those of the recurrent weights."
        }
        Suite::Arithmetic | Suite::Memory | Suite::Launch => "Peaks of the device.",
    }
}

/// A series for each pass on each device.
fn series(devices: &[OnDevice<'_>], suite: Suite, figure: fn(&Entry) -> Option<f64>) -> Vec<Series> {
    let mut series = Vec::new();
    for device in devices {
        let entries = device.entries(suite);
        for pass in Pass::ALL {
            let point = |entry: &Entry| Some(Point::new(entry.flops as f64 / GIGA, figure(entry)?));
            let strand = |entry: &&Entry| Some(Strand { name: entry.size.clone(), points: vec![point(entry)?] });
            let strands: Vec<Strand> = of_pass(&entries, pass).iter().filter_map(strand).collect();
            if strands.is_empty() {
                continue;
            }
            let on = if devices.len() > 1 { format!(" · {}", device.name) } else { String::new() };
            let name = format!("{}{on}", pass.title());
            series.push(Series { name, look: Look::Marks(series.len()), strands });
        }
    }
    series
}

fn operations() -> Quantity {
    Quantity::new("GFLOP of an entry", Extent::Decades)
}

fn shares(devices: &[OnDevice<'_>], suite: Suite) -> Plot {
    Plot {
        title: "Share of the peak over operations".to_owned(),
        note: format!("{}. A mark for each entry that has figures.", suite.title()),
        x: operations(),
        y: Quantity::share("share of the measured peak", Extent::FromZero),
        series: series(devices, suite, share),
    }
}

fn rates(devices: &[OnDevice<'_>], suite: Suite) -> Plot {
    let mut all = series(devices, suite, |entry| Some(rate(entry)? / GIGA));
    let entries: Vec<&Entry> = devices.iter().flat_map(|device| device.entries(suite)).collect();
    let of_published = published_series(&entries);
    let beside = if of_published.is_empty() || all.is_empty() {
        ""
    } else {
        " Hollow marks are DeepBench's, on other hardware and with the makers' libraries."
    };
    if !all.is_empty() {
        all.extend(of_published);
    }
    Plot {
        title: "Rate over operations".to_owned(),
        note: format!("{}. A mark for each entry that has figures.{beside}", suite.title()),
        x: operations(),
        y: Quantity::new("GFLOP/s", Extent::Decades),
        series: all,
    }
}

/// What was published of these sizes, measured here or not, by its hardware.
fn published_series(entries: &[&Entry]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    let mut sizes: Vec<&str> = Vec::new();
    for entry in entries {
        let Some(row) = beside(entry).filter(|_| !sizes.contains(&entry.size.as_str())) else { continue };
        sizes.push(&entry.size);
        let name = format!("published: {}", row.hardware);
        let points = vec![Point::new(entry.flops as f64 / GIGA, row.flops_per_second() / GIGA)];
        let strand = Strand { name: entry.size.clone(), points };
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.strands.push(strand),
            None => series.push(Series { name, look: Look::Published(series.len()), strands: vec![strand] }),
        }
    }
    series
}

/// What was measured of sizes that have a published figure.
fn published(measured: &[(&OnDevice<'_>, &Entry)]) -> Option<Table> {
    let both: Vec<_> = measured.iter().filter_map(|(device, entry)| Some((device, entry, beside(entry)?))).collect();
    let mut sheet = Sheet::new(&[
        "size",
        "pass",
        "device",
        "flops_per_second",
        "published_hardware",
        "published_flops_per_second",
        "published_milliseconds",
        "note",
        "source",
    ]);
    sheet.rows = both
        .iter()
        .map(|(device, entry, row)| {
            vec![
                Value::from(entry.size.as_str()),
                Value::from(entry.pass.title()),
                Value::from(device.name.as_str()),
                Value::from(rate(entry)),
                Value::from(row.hardware.as_str()),
                Value::Number(row.flops_per_second()),
                Value::Number(row.time_ms),
                row.note.as_deref().map_or(Value::Empty, Value::from),
                Value::Text(row.citation()),
            ]
        })
        .collect();
    let rows: Vec<Vec<String>> = both
        .iter()
        .map(|(device, entry, row)| {
            vec![
                title(entry),
                device.name.clone(),
                rate(entry).map_or_else(|| "–".to_owned(), text::flops),
                text::flops(row.flops_per_second()),
                row.hardware.clone(),
                row.citation(),
            ]
        })
        .collect();
    let columns = vec![
        Column::text("Entry"),
        Column::text("Device"),
        Column::number("Rate here"),
        Column::number("Published rate"),
        Column::text("Published of"),
        Column::text("Where"),
    ];
    let caption =
        "Beside what DeepBench's page shows: the fastest device of its time for each, with the maker's library, in \
                   single precision."
            .to_owned();
    (!rows.is_empty()).then_some(Table { caption, columns, rows, sheet, is_folded: false })
}

/// What was measured or left out, and where: how rows of both sheets begin.
fn what(device: &OnDevice<'_>, entry: &Entry) -> [Value; 5] {
    [
        Value::from(device.name.as_str()),
        Value::from(entry.size.as_str()),
        Value::from(entry.pass.title()),
        Value::Number(entry.flops as f64),
        Value::Number(entry.bytes as f64),
    ]
}

/// Every entry with figures.
fn entries(suite: Suite, measured: &[(&OnDevice<'_>, &Entry)]) -> Option<Table> {
    let mut sheet = Sheet::new(&[
        "device",
        "size",
        "pass",
        "flops",
        "bytes",
        "seconds",
        "relative_spread",
        "flops_per_second",
        "peak_flops_per_second",
        "peak_share",
        "kernels",
    ]);
    let mut rows = Vec::new();
    for (device, entry) in measured {
        let Some(figures) = entry.outcome.measured() else { continue };
        let found = [
            Value::Number(figures.timing.seconds),
            Value::Number(figures.timing.relative_spread()),
            Value::Number(figures.flops_per_second),
            Value::from(figures.peak_flops_per_second),
            Value::from(figures.peak_share),
            Value::Text(entry.kernels.join(" + ")),
        ];
        sheet.rows.push(what(device, entry).into_iter().chain(found).collect());
        rows.push(vec![
            title(entry),
            device.name.clone(),
            text::seconds(figures.timing.seconds),
            spread(figures.timing.relative_spread()),
            text::flops(figures.flops_per_second),
            figures.peak_flops_per_second.map_or_else(|| "–".to_owned(), text::flops),
            figures.peak_share.map_or_else(|| "–".to_owned(), text::percent),
            entry.kernels.join(" + "),
        ]);
    }
    let numbers = ["Time", "Spread", "Rate", "Peak beside it", "Of that peak"].into_iter().map(Column::number);
    let texts = ["Entry", "Device"].into_iter().map(Column::text);
    let columns = texts.chain(numbers).chain([Column::text("Kernels")]).collect();
    let caption = format!(
        "{}: all {} with figures. Each has its own peak, measured in turns with its windows.",
        suite.title(),
        text::counted_entries(rows.len())
    );
    (!rows.is_empty()).then_some(Table { caption, columns, rows, sheet, is_folded: true })
}

/// Every entry without, and why.
fn left_out(suite: Suite, others: &[(&OnDevice<'_>, &Entry)]) -> Option<Table> {
    let mut sheet = Sheet::new(&["device", "size", "pass", "flops", "bytes", "reason"]);
    let mut rows = Vec::new();
    for (device, entry) in others {
        let Some(reason) = reason(entry) else { continue };
        sheet.rows.push(what(device, entry).into_iter().chain([Value::from(reason.as_str())]).collect());
        rows.push(vec![title(entry), device.name.clone(), reason]);
    }
    let columns = ["Entry", "Device", "Why"].into_iter().map(Column::text).collect();
    let caption = format!("{}: {} without figures, and why.", suite.title(), text::counted_entries(rows.len()));
    (!rows.is_empty()).then_some(Table { caption, columns, rows, sheet, is_folded: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::kernels;

    fn blocks(device: &str, entries: &[(&str, Pass, Option<f64>)]) -> Vec<Block> {
        let all = [kernels(device, entries)];
        section(&OnDevice::of_all(&all), Suite::Gemm).blocks
    }

    #[test]
    fn entries_are_drawn_by_their_pass_and_listed_with_their_reasons() {
        let entries = [
            ("8 × 8 × 8", Pass::Forward, Some(0.5)),
            ("8 × 8 × 8", Pass::InputGradient, Some(0.25)),
            ("4096 × 7000 × 4096", Pass::Forward, None),
        ];
        let blocks = blocks("A", &entries);
        let [Block::Text(_), Block::Figures(figures), Block::Table(measured), Block::Table(others)] = blocks.as_slice()
        else {
            panic!("text, figures and two tables")
        };
        let csv = figures[0].sheet().csv();
        assert!(csv.contains("input gradient,measured here,8 × 8 × 8,0.000001024,0.25,,\n"), "{csv}");
        assert_eq!(measured.rows.len(), 2);
        assert_eq!(measured.rows[0][4..7], ["500.0 GFLOP/s", "1.000 TFLOP/s", "50.00 %"]);
        assert_eq!(others.rows[0][2], "once would take about 3.000 s, and its budget allows 500.0 ms");
    }

    #[test]
    fn what_deepbench_published_stands_beside_its_size_alone() {
        let blocks =
            blocks("A", &[("1760 × 128 × 1760", Pass::Forward, Some(0.5)), ("8 × 8 × 8", Pass::Forward, Some(0.5))]);
        let Block::Table(published) = &blocks[2] else { panic!("the published figures come first") };
        assert_eq!(published.rows.len(), 1);
        assert_eq!(published.rows[0][2..5], ["500.0 GFLOP/s", "7.930 TFLOP/s", "NVIDIA GTX 1080 Ti"]);
        let Block::Figures(figures) = &blocks[1] else { panic!("there are figures") };
        assert!(figures[1].sheet().csv().contains("published: NVIDIA GTX 1080 Ti,published,1760 × 128 × 1760,"));
    }
}
