use results::{Adapter, Provenance};

use crate::csv::{Sheet, Value};
use crate::gathered::Gathered;
use crate::report::{Block, Column, Section, Table};
use crate::run::Run;

/// What computed, and with which programs.
pub(super) fn section(gathered: &Gathered<'_>) -> Option<Section> {
    let mut known: Vec<(Vec<String>, usize)> = Vec::new();
    for run in gathered.runs() {
        let cells = cells(run);
        match known.iter_mut().find(|(other, _)| *other == cells) {
            Some((_, count)) => *count += 1,
            None => known.push((cells, 1)),
        }
    }
    for (device, record) in gathered.kernels.iter().flat_map(|device| device.records.iter().map(move |of| (device, of)))
    {
        let cells = of_kernels(device.adapter, &record.provenance);
        match known.iter_mut().find(|(other, _)| *other == cells) {
            Some((_, count)) => *count += 1,
            None => known.push((cells, 1)),
        }
    }
    let names = ["Device", "Back end", "Interface", "Driver", "System", "Program"];
    let mut sheet = Sheet::new(&["device", "backend", "interface", "driver", "system", "program", "runs"]);
    sheet.rows = known
        .iter()
        .map(|(cells, count)| {
            let texts = cells.iter().map(|cell| Value::from(cell.as_str()));
            texts.chain([Value::Number(*count as f64)]).collect()
        })
        .collect();
    let rows: Vec<Vec<String>> =
        known.into_iter().map(|(cells, count)| cells.into_iter().chain([count.to_string()]).collect()).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = names.into_iter().map(Column::text).chain([Column::number("Runs")]).collect();
    let caption = "What computed, as the platforms reported it.".to_owned();
    let table = Table { caption, columns, rows, sheet, is_folded: false };
    Some(Section { title: "Machines and programs".to_owned(), blocks: vec![Block::Table(table)] })
}

fn cells(run: &Run<'_>) -> Vec<String> {
    let device = &run.record.device;
    let name = &device.adapter.name;
    let name = device.claimed_name.as_ref().map_or_else(|| name.clone(), |own| format!("{own} (reported as {name})"));
    of_device(&name, &device.backend, &device.adapter, &run.record.provenance)
}

/// Kernels by themselves are ours.
fn of_kernels(adapter: &Adapter, provenance: &Provenance) -> Vec<String> {
    of_device(&adapter.name, "wgsl, kernels by themselves", adapter, provenance)
}

fn of_device(name: &str, backend: &str, adapter: &Adapter, provenance: &Provenance) -> Vec<String> {
    let client = &provenance.client;
    let software = if adapter.software { ", a program" } else { "" };
    let processors = client.logical_processors.map(|count| format!(", {count} logical processors")).unwrap_or_default();
    vec![
        format!("{name}{software}"),
        backend.to_owned(),
        adapter.api.clone(),
        if adapter.driver.is_empty() { "–".to_owned() } else { adapter.driver.clone() },
        format!("{}{processors}", client.operating_system),
        format!("{} {}, engine {} ({})", client.name, client.version, provenance.engine_version, provenance.commit),
    ]
}
