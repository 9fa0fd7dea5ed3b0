//! The studies that are built in. A new one is a file and a line here.

pub(crate) const STUDIES: &[(&str, &str)] = &[
    ("keras-backends", include_str!("../../studies/keras-backends.toml")),
    ("keras-five", include_str!("../../studies/keras-five.toml")),
    ("gtdl-baseline", include_str!("../../studies/gtdl-baseline.toml")),
    ("gtdl-epochs", include_str!("../../studies/gtdl-epochs.toml")),
    ("gtdl-batch-size", include_str!("../../studies/gtdl-batch-size.toml")),
    ("gtdl-learning-rate", include_str!("../../studies/gtdl-learning-rate.toml")),
    ("gtdl-combined", include_str!("../../studies/gtdl-combined.toml")),
    ("gtdl-threads", include_str!("../../studies/gtdl-threads.toml")),
    ("gtdl-devices", include_str!("../../studies/gtdl-devices.toml")),
    ("input-pipeline", include_str!("../../studies/input-pipeline.toml")),
    ("kernels", include_str!("../../studies/kernels.toml")),
    ("layouts", include_str!("../../studies/layouts.toml")),
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    use results::InputMode;
    use results::kernels::Suite;

    use super::*;
    use crate::study::cell::RunSettings;
    use crate::study::definition::Definition;
    use crate::study::folder::Plan;
    use crate::study::matrix::Machine;

    const MACHINE: Machine = Machine { cores: 4, has_remote: false };

    fn plan(name: &str) -> Plan {
        let (_, text) = STUDIES.iter().find(|(known, _)| *known == name).unwrap();
        let definition = Definition::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        Plan::new(name, definition, 1.0, MACHINE).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn cells(name: &str) -> Vec<RunSettings> {
        plan(name).cells.iter().filter_map(|cell| cell.settings.run().cloned()).collect()
    }

    #[test]
    fn every_built_in_study_says_what_it_repeats_and_what_differs_and_has_cells() {
        for (name, text) in STUDIES {
            let definition = Definition::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(definition.repeats.is_some() && definition.differs.is_some(), "{name}");
            assert!(!definition.title.contains('\n') && !definition.description.is_empty(), "{name}");
            assert!(plan(name).cells.len() > 1, "{name}");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("studies");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: BTreeSet<String> =
            files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(files, STUDIES.iter().map(|(name, _)| (*name).to_owned()).collect());
    }

    /// Batch size, learning rate and length of a framework's rows, from `published_results.json`.
    #[test]
    fn the_combined_study_has_the_rows_of_its_table() {
        let of = |workload: &str| cells("gtdl-combined").into_iter().filter(|cell| cell.workload == workload).count();
        let frameworks = ["tensorflow-mnist", "caffe-mnist", "torch-mnist", "theano-mnist"];
        assert_eq!(frameworks.map(of), [9, 9, 9, 7]);
        let text = |cell: &RunSettings| {
            format!("{:?} {:?} {}", cell.batch_size.unwrap(), cell.learning_rate.unwrap(), cell.limit.unwrap())
        };
        let texts: Vec<String> = cells("gtdl-combined").iter().map(text).collect();
        for row in ["5000 0.01 60000 steps", "6400 0.5 8000 steps", "100 0.45 72000 steps", "5000 0.25 800 epochs"] {
            assert!(texts.contains(&row.to_owned()), "{row} is missing in {texts:?}");
        }
    }

    #[test]
    fn the_study_of_batch_sizes_has_the_rows_of_its_tables() {
        let sizes = |workload: &str| -> BTreeSet<u32> {
            cells("gtdl-batch-size")
                .into_iter()
                .filter(|of| of.workload == workload)
                .filter_map(|of| of.batch_size)
                .collect()
        };
        assert_eq!(sizes("tensorflow-mnist"), BTreeSet::from([50, 500, 5000, 50_000]));
        assert_eq!(sizes("caffe-mnist"), BTreeSet::from([64, 640, 6400, 60_000]));
        assert_eq!(sizes("torch-mnist"), BTreeSet::from([10, 100, 1000, 10_000]));
        assert_eq!(sizes("theano-mnist"), BTreeSet::from([50, 500, 5000]));
        assert_eq!(cells("gtdl-batch-size").len(), 4 + 2 + 4 + 2 + 4 + 3);
    }

    #[test]
    fn the_study_of_devices_has_the_batches_of_its_table_and_divides_the_smallest_of_them() {
        let of = |workload: &str| -> Vec<(u32, u32)> {
            let cells = cells("gtdl-devices").into_iter().filter(|of| of.workload == workload);
            let mut found: Vec<_> = cells.map(|of| (of.devices.unwrap(), of.batch_size.unwrap())).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(of("caffe-mnist"), [(1, 64), (2, 64), (2, 128), (4, 64), (4, 256)]);
        assert_eq!(of("caffe-cifar10"), [(1, 100), (2, 100), (2, 200), (4, 100), (4, 400)]);
    }

    #[test]
    fn the_study_of_the_input_pipeline_has_every_way_for_each_network_and_batch_size() {
        let mut ways: BTreeMap<(String, Option<u32>), BTreeSet<InputMode>> = BTreeMap::new();
        for cell in cells("input-pipeline") {
            ways.entry((cell.workload, cell.batch_size)).or_default().extend(cell.input);
        }
        assert_eq!(ways.len(), 3);
        assert!(ways.values().all(|of| of.iter().eq(&InputMode::ALL)), "{ways:?}");
    }

    #[test]
    fn the_baseline_has_every_default_and_each_framework_crossed() {
        let cells = cells("gtdl-baseline");
        assert_eq!(cells.len(), 16);
        assert_eq!(cells.iter().filter(|cell| cell.batch_size.is_none()).count(), 8);
    }

    #[test]
    fn kernels_are_measured_in_every_suite() {
        let texts: Vec<String> = plan("kernels").cells.iter().map(|cell| cell.settings.text()).collect();
        assert_eq!(texts.len(), Suite::ALL.len());
        for suite in Suite::ALL {
            assert!(texts.iter().any(|text| text.contains(&format!("kernels {} ·", suite.name()))), "{texts:?}");
        }
    }
}
