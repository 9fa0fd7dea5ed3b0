//! From figures of devices to the lines of a table, with their places.

use std::collections::HashMap;

use results::api::{Completion, FigureOfDevice, StandingsPlace};

use crate::figures::DeviceFigure;
use crate::ranking::{self, Figure, Placed, places};

/// The lines of a table with their places, the first first. Where lines are missing, they must be the slowest.
pub(crate) fn lines(figures: Vec<DeviceFigure>) -> Vec<StandingsPlace> {
    let mut of_keys: HashMap<String, DeviceFigure> = figures.into_iter().map(|figure| (key(&figure), figure)).collect();
    let figures = of_keys.iter().map(|(key, row)| (key.clone(), row.figure.clone())).collect();
    let line = |placed: Placed| of_keys.remove(&placed.device).map(|row| line(placed.place, row));
    places(figures).into_iter().filter_map(line).collect()
}

/// The place of a line among all that are at least as fast, itself among them.
pub(crate) fn place_among(own: &DeviceFigure, at_least_as_fast: &[DeviceFigure]) -> Option<u64> {
    let own = key(own);
    let figures = at_least_as_fast.iter().map(|row| (key(row), row.figure.clone())).collect();
    places(figures).into_iter().find(|placed| placed.device == own).map(|placed| placed.place as u64)
}

/// A line of a table; no part of it has a slash.
fn key(row: &DeviceFigure) -> String {
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
    }
}
