//! The model's figures as a person reads them.

use console::Style;
use results::scaling::{AllReduce, Transport};

use super::Document;
use super::published::PublishedScaling;
use super::records::{Held, Network, ScaledStep};
use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::{Column, Table};

/// Stands for a figure that is not there.
const NONE: &str = "–";

pub(super) fn show(document: &Document, is_typed: bool, screen: Screen) -> Result<(), Failure> {
    if let (Some(device), Some(link)) = (&document.device, &document.link) {
        let label = |text: &str| screen.paint(Style::new().dim(), format!("{text:<8}"));
        screen.prose(&label("device"), device, 8)?;
        let origin = if is_typed { "as typed" } else { "fitted to the records of several devices" };
        screen.prose(&label("link"), &format!("{}, {origin}", in_words(link)), 8)?;
    }
    if !document.held.is_empty() {
        title("Steps that were measured, and what the model makes of them", screen)?;
        lines(&held(&document.held), screen)?;
        let others = document.held.iter().all(|held| held.link_is_of_others);
        let whose =
            if others { "of the other records" } else { "of the only record of several, which it therefore fits" };
        screen.prose("", &format!("Computing is that of one device; the link is that {whose}."), 0)?;
    }
    for network in &document.networks {
        title(&format!("{}, batches of {}", network.workload, network.batch), screen)?;
        screen.prose("", &about(network), 0)?;
        lines(&scaled(network), screen)?;
    }
    for rows in document.published.chunks(AllReduce::ALL.len()) {
        title(&format!("{}: GTDLBench, Table VIII", rows[0].what), screen)?;
        lines(&published(rows), screen)?;
        let links = rows.iter().map(|row| {
            format!("{} at {} explains the steps best", row.all_reduce.name(), bandwidth(row.bytes_per_second))
        });
        let megabytes = rows[0].gradient_bytes / 1e6;
        screen.prose("", &format!("Gradients of {megabytes:.1} MB; {}.", links.collect::<Vec<_>>().join(", ")), 0)?;
    }
    Ok(())
}

fn title(text: &str, screen: Screen) -> Result<(), Failure> {
    screen.line("")?;
    screen.line(&screen.paint(Style::new().bold(), text))
}

fn lines(table: &Table, screen: Screen) -> Result<(), Failure> {
    table.lines(screen, screen.width()).iter().try_for_each(|line| screen.line(line))
}

fn in_words(link: &Transport) -> String {
    let adding = link.added_bytes_per_second.map(|rate| format!(", adding {}", bandwidth(rate)));
    let latency = format!("{:.1} µs", link.latency_seconds * 1e6);
    format!("{latency} and {}{}", bandwidth(link.bytes_per_second), adding.unwrap_or_default())
}

fn bandwidth(bytes_per_second: f64) -> String {
    format!("{:.2} GB/s", bytes_per_second / 1e9)
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn about(network: &Network) -> String {
    let Network { compute, exchanged, batch_sizes, .. } = network;
    let fixed = match batch_sizes {
        1 => " (one batch size: nothing is told apart as fixed)".to_owned(),
        sizes => format!(" ({sizes} batch sizes)"),
    };
    format!(
        "A step of n samples takes {} + n · {}{fixed}, and tells {:.2} MB in {:.0} exchange{}. Speed-ups are of throughput over \
         one device; in brackets the most that overlapping could bring.",
        milliseconds(compute.fixed_seconds),
        milliseconds(compute.seconds_per_sample),
        exchanged.bytes / 1e6,
        exchanged.exchanges,
        if exchanged.exchanges > 1.0 { "s" } else { "" },
    )
}

fn held(all: &[Held]) -> Table {
    let column = |name: &str, cell: &dyn Fn(&Held) -> String| Column {
        name: name.to_owned(),
        cells: all.iter().map(cell).collect(),
    };
    Table {
        titles: all.iter().map(|of| format!("{}, {} devices, batch {}", of.workload, of.devices, of.batch)).collect(),
        columns: vec![
            column("step\nmeasured", &|of| milliseconds(of.measured_seconds)),
            column("step\nmodel", &|of| milliseconds(of.model.seconds())),
            column("model over\nmeasured", &|of| format!("{:.2}", of.model.seconds() / of.measured_seconds)),
            column("communication\nmeasured", &|of| milliseconds(of.measured_communication_seconds)),
            column("communication\nmodel", &|of| milliseconds(of.model.communication_seconds)),
        ],
    }
}

fn scaled(network: &Network) -> Table {
    let of = |by: AllReduce| network.scaled.iter().filter(move |scaled| scaled.all_reduce == by);
    let speed = |step: &ScaledStep| {
        format!("{} {:.2} ({:.2})", milliseconds(step.step.seconds()), step.speed_up, step.overlapped_speed_up)
    };
    let columns = AllReduce::ALL.into_iter().flat_map(|by| {
        let strong = of(by).map(|scaled| scaled.strong.as_ref().map_or_else(|| NONE.to_owned(), speed)).collect();
        let weak = of(by).map(|scaled| speed(&scaled.weak)).collect();
        [
            Column { name: format!("batch divided,\n{}", by.name()), cells: strong },
            Column { name: format!("as many samples each,\n{}", by.name()), cells: weak },
        ]
    });
    Table { titles: of(AllReduce::Ring).map(|scaled| devices(scaled.devices)).collect(), columns: columns.collect() }
}

fn devices(count: u32) -> String {
    format!("{count} device{}", if count == 1 { "" } else { "s" })
}

fn published(rows: &[PublishedScaling]) -> Table {
    let steps = &rows[0].steps;
    let measured = steps.iter().map(|step| step.published_seconds.map_or_else(|| NONE.to_owned(), milliseconds));
    let mut columns = vec![Column { name: "step\npublished".to_owned(), cells: measured.collect() }];
    columns.extend(rows.iter().map(|row| {
        let cell = |step: &super::published::PublishedStep| {
            format!("{} ({:.0} %)", milliseconds(step.model_seconds), 100.0 * step.model_efficiency)
        };
        Column {
            name: format!("model (efficiency),\n{}", row.all_reduce.name()),
            cells: row.steps.iter().map(cell).collect(),
        }
    }));
    Table { titles: steps.iter().map(|step| devices(step.devices)).collect(), columns }
}
