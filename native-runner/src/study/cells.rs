//! From a definition to its cells.

use engine::{Generator, stream};

use super::cell::Cell;
use super::definition::Definition;
use super::matrix::{Machine, of_matrix};
use super::run_settings::RunSettings;

/// All cells of a study, each once, in the order in which the definition lists them.
///
/// # Errors
/// A back end that there is not; a batch that is larger than its training set; threads that nobody computes with; and
/// nothing to run at all.
pub(super) fn cells(definition: &Definition, scale: f64, machine: Machine) -> Result<Vec<Cell>, String> {
    definition.check_backends()?;
    if !definition.matrix.is_empty() && !definition.kernels.is_empty() {
        let text = "it has [[matrix]] and [[kernels]], whose figures share no table: make two studies of it";
        return Err(text.to_owned());
    }
    if !definition.programs.is_empty() && !definition.kernels.is_empty() {
        let text = "[programs] and --program are back ends that train networks, and it measures kernels of our own";
        return Err(text.to_owned());
    }
    let programs: Vec<&str> = definition.programs.keys().map(String::as_str).collect();
    let mut all: Vec<Cell> = definition.kernels.iter().flat_map(|kernels| kernels.cells(scale)).collect();
    for (number, matrix) in definition.matrix.iter().enumerate() {
        let of_matrix = of_matrix(matrix, &programs, scale, machine);
        all.extend(of_matrix.map_err(|error| format!("[[matrix]] {}: {error}", number + 1))?);
    }
    let mut cells: Vec<Cell> = Vec::new();
    for cell in all {
        if cells.iter().all(|other| other.id != cell.id) {
            cells.push(Cell { place: cells.len(), ..cell });
        }
    }
    if let Some(two) = cells.iter().find_map(|cell| of_one_name(&cells, cell)) {
        return Err(two);
    }
    if cells.is_empty() {
        let text = "it has no cells: it needs a [[matrix]] with at least one workload, back end, adapter and seed, or \
                    [[kernels]] with at least one suite and adapter";
        return Err(text.to_owned());
    }
    Ok(cells)
}

/// Why another cell has another network of the same name, where one has: tables could not tell them apart.
fn of_one_name(cells: &[Cell], cell: &Cell) -> Option<String> {
    let RunSettings { workload, file, .. } = cell.settings.run()?;
    let file = file.as_ref()?;
    let others = cells.iter().filter_map(|other| other.settings.run()).filter(|other| other.workload == *workload);
    let other = others.filter_map(|other| other.file.as_ref()).find(|other| *other != file)?;
    let (one, two) = (file.path.display(), other.path.display());
    Some(format!("{one} and {two} both describe a network called `{workload}`"))
}

/// The same cells in the order in which they run: so that nothing always comes first, while the device is cool.
pub(super) fn in_random_order(cells: Vec<Cell>, seed: u32) -> Vec<Cell> {
    let count = u32::try_from(cells.len()).expect("a study has few cells");
    let order = Generator { stream: stream::SUITE_ORDER, step: 0, seed }.permutation(count);
    let mut cells: Vec<Option<Cell>> = cells.into_iter().map(Some).collect();
    order.into_iter().filter_map(|place| cells[place as usize].take()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    const MACHINE: Machine = Machine { cores: 6, has_remote: false };
    const CAFFE: &str = "[[matrix]]\nworkloads = [\"caffe-mnist\"]\n";

    /// What a cell is asked for that trains something.
    pub(in super::super) fn run(cell: &Cell) -> &RunSettings {
        cell.settings.run().expect("it trains something")
    }

    fn expand(matrix: &str, scale: f64) -> Result<Vec<Cell>, String> {
        cells(&Definition::parse(&format!("title = \"t\"\n{matrix}")).unwrap(), scale, MACHINE)
    }

    #[test]
    fn what_two_matrices_share_is_one_cell() {
        let text = format!("{CAFFE}batch_sizes = [16, 32]\n{CAFFE}batch_sizes = [32, 64]\n");
        let sizes: Vec<Option<u32>> = expand(&text, 1.0).unwrap().iter().map(|cell| run(cell).batch_size).collect();
        assert_eq!(sizes, [Some(16), Some(32), Some(64)]);
    }

    #[test]
    fn suites_that_are_asked_for_twice_are_one_cell_and_runs_are_another_study() {
        let kernels = "[[kernels]]\nsuites = [\"gemm\", \"conv\"]\n[[kernels]]\nsuites = [\"conv\", \"rnn\"]\n";
        assert_eq!(expand(kernels, 1.0).unwrap().len(), 3);
        let error = expand(&format!("{CAFFE}{kernels}"), 1.0).unwrap_err();
        assert!(error.contains("[[matrix]] and [[kernels]]") && error.contains("two studies"), "{error}");
        let error = expand(&format!("[programs]\npytorch = \"\"\n{kernels}"), 1.0).unwrap_err();
        assert!(error.contains("[programs]") && error.contains("measures kernels"), "{error}");
        let error = expand("[[kernels]]\nsuites = []\n", 1.0).unwrap_err();
        assert!(error.contains("has no cells") && error.contains("at least one suite"), "{error}");
    }

    #[test]
    fn the_order_holds_every_cell_once_and_follows_from_the_seed() {
        let text = format!("{CAFFE}seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n");
        let ordered = |seed| -> Vec<u32> {
            let cells = in_random_order(expand(&text, 1.0).unwrap(), seed);
            cells.iter().map(|cell| run(cell).seed).collect()
        };
        let mut sorted = ordered(1);
        assert_eq!(sorted, ordered(1));
        assert_ne!(sorted, ordered(2));
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=10).collect::<Vec<_>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_matrix_has_as_many_cells_as_combinations_and_another_one_adds_only_what_is_new(
            sizes in btree_set(1_u32..200, 1..4),
            seeds in btree_set(0_u32..100, 1..4),
            others in btree_set(0_u32..100, 1..4),
        ) {
            let matrix = |seeds: &BTreeSet<u32>| format!("{CAFFE}batch_sizes = {sizes:?}\nseeds = {seeds:?}\n")
                .replace('{', "[").replace('}', "]");
            let cells = expand(&format!("{}{}", matrix(&seeds), matrix(&others)), 1.0).unwrap();
            prop_assert_eq!(cells.len(), sizes.len() * seeds.union(&others).count());
            let ids: BTreeSet<&String> = cells.iter().map(|cell| &cell.id).collect();
            prop_assert_eq!(ids.len(), cells.len());
            let mut ordered = in_random_order(cells.clone(), 7);
            ordered.sort_by_key(|cell| cell.place);
            prop_assert_eq!(ordered, cells);
        }
    }
}
