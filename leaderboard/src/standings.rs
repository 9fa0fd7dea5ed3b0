//! From figures of devices to the lines of a table, with their places.

use std::collections::HashMap;

use results::api::{Completion, FigureOfDevice, StandingsPlace};

use crate::figures::DeviceFigure;
use crate::ranking::{self, Figure, Placed, places};
use crate::storage::FastLine;

/// Returns the lines of a table with their places, in order. Only the last ones may be missing from `figures`.
pub(crate) fn lines(figures: Vec<DeviceFigure>) -> Vec<StandingsPlace> {
    let mut of_keys: HashMap<String, DeviceFigure> = figures.into_iter().map(|figure| (key(&figure), figure)).collect();
    let figures = of_keys.iter().map(|(key, row)| (key.clone(), row.figure.clone())).collect();
    let line = |placed: Placed| of_keys.remove(&placed.device).map(|row| line(placed.place, row));
    places(figures).into_iter().filter_map(line).collect()
}

/// Returns the places of these lines by their keys. `lines` are all lines of a table with enough voices that are at
/// least as fast as the slowest line of interest.
pub(crate) fn places_of(lines: Vec<FastLine>) -> HashMap<String, u64> {
    let figure = |line: FastLine| {
        let FastLine { key, median, lower_quartile, upper_quartile } = line;
        // How many runs there are does not matter to a place.
        let (submitters, days) = (usize::MAX, usize::MAX);
        let figure = Figure { median, lower_quartile, upper_quartile, runs: 0, submitters, days };
        (key, figure)
    };
    let placed = places(lines.into_iter().map(figure).collect());
    placed.into_iter().map(|placed| (placed.device, placed.place as u64)).collect()
}

/// By what a line of a table is known, as [`FastLine`] has it.
pub(crate) fn key(row: &DeviceFigure) -> String {
    format!("{}/{}/{}", row.device.key, row.category.backend, row.category.client_kind.name())
}

fn line(place: usize, row: DeviceFigure) -> StandingsPlace {
    StandingsPlace {
        place: place as u64,
        device_key: row.device.key,
        device_name: row.device.name,
        device_source: row.device.source,
        inferred: row.device.inferred,
        backend: row.category.backend,
        client_kind: row.category.client_kind,
        figure: told(&row.figure),
        completion: row
            .completion
            .map(|ranking::Completion { finished, announced }| Completion { finished, announced }),
        outlier_runs: row.outlier_runs,
        outliers: row.outliers,
        best_run_id: row.best_run_id,
    }
}

/// A figure as the API has it.
pub(crate) fn told(figure: &Figure) -> FigureOfDevice {
    FigureOfDevice {
        median: figure.median,
        lower_quartile: figure.lower_quartile,
        upper_quartile: figure.upper_quartile,
        runs: figure.runs as u64,
        submitters: figure.submitters as u64,
        days: figure.days as u64,
    }
}
