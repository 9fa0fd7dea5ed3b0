//! How much of a step waits for its batch.

use results::InputMode;

use crate::group::{Group, label, varying};
use crate::plot::{Bar, Bars, Figure};

/// Nothing where no group's batches come from the host.
pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    if groups.iter().all(|group| group.setup.input == InputMode::Resident) {
        return Vec::new();
    }
    let fields = varying(groups);
    let row = |group: &&Group<'_>| {
        let share = group.input_share()?;
        Some(Bar { name: label(group, &fields), values: vec![Some(100.0 * share)] })
    };
    let bars = Bars {
        title: "Share of the step that waits for input".to_owned(),
        note: format!(
            "{workload}. Of the timed seconds, those in which the device had nothing to do because its next batch was not \
             there. Where the data set lies on the device, nothing is brought."
        ),
        parts: vec!["waiting for input".to_owned()],
        unit: "percent".to_owned(),
        show: |percent| format!("{percent:.2} %"),
        rows: groups.iter().filter_map(row).collect(),
    };
    Some(bars).filter(Bars::has_values).map(Figure::Bars).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    #[test]
    fn each_way_has_a_bar_and_that_of_resident_data_is_empty() {
        let records = InputMode::ALL.map(|mode| Made::new("caffe-mnist").backend("wgsl").input(mode).record());
        let groups = groups(&records);
        let figures = figures("caffe-mnist", &groups.iter().collect::<Vec<_>>());
        let [Figure::Bars(bars)] = figures.as_slice() else { panic!("{figures:?}") };
        let rows: Vec<(&str, f64)> = bars.rows.iter().map(|bar| (bar.name.as_str(), bar.values[0].unwrap())).collect();
        let names = ["input resident on the device", "input streamed with prefetch", "input streamed without prefetch"];
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), names);
        assert!(rows[0].1 == 0.0 && (rows[1].1 - 10.0).abs() < 0.1, "{rows:?}");
    }

    #[test]
    fn without_streamed_input_there_is_nothing_to_draw() {
        let records = [Made::new("caffe-mnist").backend("wgsl").record()];
        let groups = groups(&records);
        assert!(figures("caffe-mnist", &groups.iter().collect::<Vec<_>>()).is_empty());
    }
}
