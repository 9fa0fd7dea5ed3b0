//! Expands a matrix of runs into cells.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use engine::backends::{BURN_FLEX, BURN_REMOTE, Devices, REFERENCE, WGSL};
use engine::{BACKENDS, Generator, KNOWN_BACKENDS, SUITES, stream};
use results::{InputMode, Length, Positive, RunSpec};

use crate::arguments::ALL;
use crate::device::devices as devices_of;
use crate::study::cell::{ANY, CellSettings, RunSettings, StudyCell, WorkloadFile, scale_length};
use crate::study::definition::{Matrix, StudyDefinition, Threads, UpTo, WorkloadName};
use crate::workload_file;

/// Properties of the machine and the command line that affect the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) cores: u16,
    pub(crate) has_remote: bool,
}

impl Host {
    pub(crate) fn this(has_remote: bool) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self { cores: u16::try_from(cores).unwrap_or(u16::MAX), has_remote }
    }
}

fn expand_matrix(matrix: &Matrix, programs: &[&str], scale: f64, machine: Host) -> Result<Vec<StudyCell>, String> {
    let backends = backends(matrix, programs, machine);
    let threads = threads(matrix.threads.as_ref(), machine);
    let of_one = [
        ("threads", !threads.is_empty(), BURN_FLEX),
        ("devices", !matrix.devices.is_empty(), WGSL),
        ("inputs", !matrix.inputs.is_empty(), WGSL),
    ];
    for (setting, _, backend) in of_one.into_iter().filter(|(_, is_set, _)| *is_set) {
        if !backends.iter().any(|name| name == backend) {
            return Err(format!("`{setting}` works only with the backend {backend}, which is not in its list"));
        }
    }
    let is_external = |name: &String| KNOWN_BACKENDS.iter().all(|known| known.name != name);
    if !matrix.layouts.is_empty() && !backends.iter().any(is_external) {
        let text =
            "`layouts` works only with external programs, but its backends are all built in and have one layout each";
        return Err(text.to_owned());
    }
    if matrix.adapters.is_empty() || matrix.precisions.is_empty() || matrix.seeds.is_empty() || backends.is_empty() {
        return Ok(Vec::new());
    }
    let mut cells: Vec<RunSettings> = matrix.workloads.iter().map(workload_settings).collect::<Result<_, _>>()?;
    vary(&mut cells, &matrix.batch_sizes, |spec, size| spec.batch_size = Some(size.get()));
    vary(&mut cells, &matrix.limits, |spec, length| spec.length = Some(length));
    vary(&mut cells, &matrix.learning_rates, |spec, rate| spec.learning_rate = Some(rate.get()));
    vary(&mut cells, &backends, |spec, backend| spec.backend = backend);
    // A backend without a choice of devices has one cell for all adapters.
    vary(&mut cells, &matrix.adapters, |spec, adapter| {
        spec.adapter = if devices_of(&spec.backend) != Devices::Given { adapter } else { ANY.to_owned() };
    });
    vary(&mut cells, &threads, |spec, count| spec.threads = (spec.backend == BURN_FLEX).then_some(count));
    vary(&mut cells, &matrix.devices, |spec, count| spec.devices = (spec.backend == WGSL).then_some(count.into()));
    vary(&mut cells, &matrix.inputs, |spec, mode| spec.input = (spec.backend == WGSL).then_some(mode));
    vary(&mut cells, &matrix.layouts, |spec, layout| spec.layout = is_external(&spec.backend).then_some(layout));
    vary(&mut cells, &matrix.precisions, |spec, precision| spec.precision = precision);
    vary(&mut cells, &matrix.seeds, |spec, seed| spec.seed = seed);
    cells.into_iter().map(|cell| scale_cell(cell, scale)).collect()
}

fn workload_settings(WorkloadName(name): &WorkloadName) -> Result<RunSettings, String> {
    if !workload_file::is_file_name(name) {
        return Ok(RunSettings::new(name.clone(), None));
    }
    let path = PathBuf::from(name);
    let (own, sha256) = workload_file::load_with_digest(&path).map_err(|failure| failure.to_string())?;
    Ok(RunSettings::new(own.name.to_owned(), Some(WorkloadFile { path, sha256 })))
}

/// Replaces each cell with one for each value. Without values, the cells keep the workload's default.
fn vary<T: Clone>(cells: &mut Vec<RunSettings>, values: &[T], set: impl Fn(&mut RunSpec, T)) {
    for cell in if values.is_empty() { Vec::new() } else { std::mem::take(cells) } {
        for value in values {
            let mut varied = cell.clone();
            set(&mut varied.spec, value.clone());
            cells.push(varied);
        }
    }
}

/// Expands [`ALL`]. A remote device is included only if an address was given.
fn backends(matrix: &Matrix, programs: &[&str], machine: Host) -> Vec<String> {
    let is_usable = |name: &&str| *name != REFERENCE && (*name != BURN_REMOTE || machine.has_remote);
    let all = || BACKENDS.iter().map(|backend| backend.name).filter(is_usable).chain(programs.iter().copied());
    let expand = |name: &str| if name == ALL { all().map(str::to_owned).collect() } else { vec![name.to_owned()] };
    matrix.backends.iter().flat_map(|name| expand(name)).collect()
}

fn threads(threads: Option<&Threads>, machine: Host) -> Vec<NonZero<usize>> {
    match threads {
        None => Vec::new(),
        Some(Threads::Counts(counts)) => counts.iter().map(|&count| count.into()).collect(),
        Some(Threads::UpTo(UpTo::All)) => {
            let doubled = std::iter::successors(Some(1_u16), |count| count.checked_mul(2));
            let below = doubled.take_while(|count| *count < machine.cores);
            below.chain([machine.cores]).filter_map(|count| NonZero::new(usize::from(count))).collect()
        }
    }
}

fn scale_cell(mut cell: RunSettings, scale: f64) -> Result<StudyCell, String> {
    let workload = cell.network()?;
    let name = cell.workload();
    let samples = engine::data_set(workload.data_set).map_or(0, |data| data.train.samples);
    let batches = workload.batches(samples, cell.spec.batch_size.unwrap_or(workload.batch_size));
    let batches = batches.map_err(|error| format!("{name}: {error}"))?;
    if let Some(devices) = cell.spec.devices.filter(|devices| devices.get() > batches.batch_size) {
        return Err(format!("{name}: a batch of {} cannot be shared by {devices} devices", batches.batch_size));
    }
    let is_streamed = cell.spec.input.is_some_and(|mode| mode != InputMode::Resident);
    if let Some(devices) = cell.spec.devices.filter(|devices| devices.get() > 1 && is_streamed) {
        return Err(format!("{name}: batches can be streamed only to one device, not to {devices}"));
    }
    let full_limit = cell.spec.length;
    // The suite limits epochs and seconds, but only one can be requested: the seconds.
    let suite = (scale < 1.0).then(|| Positive::new(SUITES[0].training_seconds * scale).map(Length::Seconds)).flatten();
    cell.spec.length = full_limit.map(|limit| scale_length(limit, scale, &batches)).or(suite);
    Ok(StudyCell::new(CellSettings::Run(Box::new(cell)), full_limit))
}

/// Lists all cells of a study once, in the order of the definition.
pub(crate) fn cells(definition: &StudyDefinition, scale: f64, machine: Host) -> Result<Vec<StudyCell>, String> {
    definition.check_backends()?;
    if !definition.matrix.is_empty() && !definition.kernels.is_empty() {
        let text = "it has [[matrix]] and [[kernels]], whose results need different tables; split it into two studies";
        return Err(text.to_owned());
    }
    if !definition.programs.is_empty() && !definition.kernels.is_empty() {
        let text = "[programs] and --program add backends that train networks, but this study measures kernels";
        return Err(text.to_owned());
    }
    let programs: Vec<&str> = definition.programs.keys().map(String::as_str).collect();
    let mut all: Vec<StudyCell> = definition.kernels.iter().flat_map(|kernels| kernels.cells(scale)).collect();
    for (number, matrix) in definition.matrix.iter().enumerate() {
        let of_matrix = expand_matrix(matrix, &programs, scale, machine);
        all.extend(of_matrix.map_err(|error| format!("[[matrix]] {}: {error}", number + 1))?);
    }
    let mut ids = BTreeSet::new();
    all.retain(|cell| ids.insert(cell.id.clone()));
    let cells: Vec<StudyCell> = (0..).zip(all).map(|(place, cell)| StudyCell { place, ..cell }).collect();
    let files = || cells.iter().filter_map(|cell| cell.settings.run()).filter_map(|of| Some((of, of.file.as_ref()?)));
    for (run, file) in files() {
        let is_other = |(other, of): &(&RunSettings, &WorkloadFile)| other.workload() == run.workload() && *of != file;
        if let Some((_, other)) = files().find(is_other) {
            let (one, two) = (file.path.display(), other.path.display());
            return Err(format!("{one} and {two} both have a network named `{}`", run.workload()));
        }
    }
    if cells.is_empty() {
        let text = "it has no cells; add a [[matrix]] with at least one workload, backend, adapter and seed, or \
                    [[kernels]] with at least one suite and adapter";
        return Err(text.to_owned());
    }
    Ok(cells)
}

/// Shuffles the cells, so that no setting always runs first, on a cool device.
pub(crate) fn shuffle_cells(cells: Vec<StudyCell>, seed: u32) -> Vec<StudyCell> {
    let count = u32::try_from(cells.len()).expect("a study has few cells");
    let order = Generator { stream: stream::SUITE_ORDER, step: 0, seed }.permutation(count);
    let mut cells: Vec<Option<StudyCell>> = cells.into_iter().map(Some).collect();
    order.into_iter().filter_map(|place| cells[place as usize].take()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::study::cell::AXES;
    use crate::study::definition::StudyDefinition;

    const MACHINE: Host = Host { cores: 6, has_remote: false };

    fn parsed(matrix: &str) -> StudyDefinition {
        StudyDefinition::parse(&format!("title = \"t\"\n{matrix}")).unwrap()
    }

    fn expand(matrix: &str, scale: f64) -> Result<Vec<StudyCell>, String> {
        cells(&parsed(matrix), scale, MACHINE)
    }

    const CAFFE: &str = "[[matrix]]\nworkloads = [\"caffe-mnist\"]\n";

    #[test]
    fn all_excludes_the_reference_and_unnamed_remote_devices() {
        let matrix = "backends = [\"all\"]\nadapters = [\"cpu\"]\n";
        let text = format!("[programs]\nmine = \"python3 mine.py\"\n{CAFFE}{matrix}");
        let runs = |machine| -> Vec<RunSpec> {
            cells(&parsed(&text), 1.0, machine).unwrap().iter().map(|cell| run(cell).clone()).collect()
        };
        let (without, with) = (runs(MACHINE), runs(Host { has_remote: true, ..MACHINE }));
        assert_eq!(with.len(), BACKENDS.len());
        let has_remote = BACKENDS.iter().any(|backend| backend.name == BURN_REMOTE);
        assert_eq!(without.len(), with.len() - usize::from(has_remote));
        assert!(with.iter().all(|run| run.backend != REFERENCE));
        // A program has no adapter.
        assert!(without.iter().any(|run| run.backend == "mine" && run.adapter == ANY));
    }

    #[test]
    fn setting_of_some_back_ends_varies_only_their_cells() {
        let mine = "[programs]\nmine = \"python3 mine.py\"\n";
        for (one, lines, name, expected) in [
            ("wgsl", "adapters = [\"discrete\", \"cpu\"]", "adapter", "discrete, cpu, any adapter"),
            ("wgsl", "devices = [1, 2]", "devices", "1 device, 2 devices, own devices"),
            ("wgsl", "inputs = [\"resident\", \"stream\"]", "input", "input resident, input stream, input own"),
            // Doublings, and all cores.
            ("burn-flex", "threads = \"1..all\"", "threads", "1 thread, 2 threads, 4 threads, 6 threads, own threads"),
            ("mine", "layouts = [\"nhwc\", \"nchw\"]", "layout", "nhwc, nchw, own layout"),
        ] {
            let axis = AXES.iter().find(|axis| axis.name == name).unwrap();
            let text = format!("{mine}{CAFFE}backends = [\"{one}\", \"reference\"]\n{lines}\n");
            let cells = expand(&text, 1.0).unwrap();
            assert_eq!(cells.iter().map(|cell| axis.text(&cell.settings)).collect::<Vec<_>>().join(", "), expected);
        }
    }

    #[test]
    fn impossible_matrix_is_refused_with_the_reason() {
        for (lines, reason) in [
            ("backends = [\"burn-flex\"]\ndevices = [2]", "`devices` works only with the backend wgsl"),
            ("devices = [2]\nbatch_sizes = [1]", "a batch of 1 cannot be shared by 2 devices"),
            ("backends = [\"burn-flex\"]\ninputs = [\"stream\"]", "`inputs` works only with the backend wgsl"),
            ("devices = [2]\ninputs = [\"prefetch\"]", "batches can be streamed only to one device, not to 2"),
            ("layouts = [\"nchw\"]", "`layouts` works only with external programs"),
            ("backends = [\"reference\"]\nthreads = [2]", "`threads` works only with the backend burn-flex"),
            ("backends = [\"mine\"]", "there is no backend `mine`"),
            ("batch_sizes = [60001]", "caffe-mnist: "),
            ("batch_sizes = [60001]", "from 1 to 60000"),
        ] {
            let error = expand(&format!("{CAFFE}{lines}\n"), 1.0).unwrap_err();
            assert!(error.starts_with("[[matrix]] 1: ") && error.contains(reason), "{lines}: {error}");
        }
    }

    fn run(cell: &StudyCell) -> &RunSpec {
        &cell.settings.run().expect("it trains something").spec
    }

    #[test]
    fn repeated_suites_are_one_cell_and_runs_are_refused() {
        let kernels = "[[kernels]]\nsuites = [\"gemm\", \"conv\"]\n[[kernels]]\nsuites = [\"conv\", \"rnn\"]\n";
        assert_eq!(expand(kernels, 1.0).unwrap().len(), 3);
        let error = expand(&format!("{CAFFE}{kernels}"), 1.0).unwrap_err();
        assert!(error.contains("[[matrix]] and [[kernels]]") && error.contains("two studies"), "{error}");
        let error = expand(&format!("[programs]\npytorch = \"\"\n{kernels}"), 1.0).unwrap_err();
        assert!(error.contains("[programs]") && error.contains("measures kernels"), "{error}");
        let error = expand("[[kernels]]\nsuites = []\n", 1.0).unwrap_err();
        assert!(error.contains("has no cells") && error.contains("at least one suite"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn matrix_has_every_combination_once(
            sizes in btree_set(1_u32..200, 1..4),
            seeds in btree_set(0_u32..100, 1..4),
            others in btree_set(0_u32..100, 1..4),
        ) {
            let matrix = |seeds: &BTreeSet<u32>| format!("{CAFFE}batch_sizes = {sizes:?}\nseeds = {seeds:?}\n")
                .replace('{', "[").replace('}', "]") + "precisions = [\"f32\", \"f64\"]\nlearning_rates = [0.1, 0.01]\n";
            let cells = expand(&format!("{}{}", matrix(&seeds), matrix(&others)), 1.0).unwrap();
            prop_assert_eq!(cells.len(), 2 * 2 * sizes.len() * seeds.union(&others).count());
            let ids: BTreeSet<&String> = cells.iter().map(|cell| &cell.id).collect();
            prop_assert_eq!(ids.len(), cells.len());
            let mut ordered = shuffle_cells(cells.clone(), 7);
            ordered.sort_by_key(|cell| cell.place);
            prop_assert_eq!(ordered, cells);
        }
    }
}
