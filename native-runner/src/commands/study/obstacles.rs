//! What keeps a cell from running on this machine, as far as that is known before it runs.

use std::convert::Infallible;

use engine::backends::{Devices, WGSL};
use engine::{AdapterChoice, BACKENDS, EngineError, KNOWN_BACKENDS};
use results::Adapter;

use super::Cell;
use crate::cli::StudyArgs;
use crate::commands::contenders::devices;
use crate::data_folder::{Availability, DataFolder, fetching};
use crate::failure::Failure;
use crate::study::{Plan, RunSettings, Settings};

/// The obstacle of each cell; `None` where none is known.
///
/// # Errors
/// None of the cells can run.
pub(super) fn obstacles(arguments: &StudyArgs, plan: &Plan, cells: &[&Cell]) -> Result<Vec<Option<String>>, Failure> {
    let adapters = pollster::block_on(engine::backends::adapters());
    let data = DataFolder::new(&arguments.data);
    let obstacle = |cell: &&Cell| {
        let (backend, adapter) = match &cell.settings {
            Settings::Run(run) => (run.backend.as_str(), &run.adapter),
            Settings::Kernels(kernels) => (WGSL, &kernels.adapter),
        };
        let of_device = if plan.program(backend).is_some() { None } else { of_device(backend, adapter, &adapters) };
        of_device.or_else(|| of_data(cell.settings.run()?, arguments, &data))
    };
    let obstacles: Vec<Option<String>> = cells.iter().map(obstacle).collect();
    match obstacles.first() {
        Some(Some(first)) if obstacles.iter().all(Option::is_some) => {
            Err(Failure::Usage(format!("no cell of {} can run here: {first}", plan.name)))
        }
        _ => Ok(obstacles),
    }
}

fn of_device(backend: &str, adapter: &str, adapters: &[Adapter]) -> Option<String> {
    if BACKENDS.iter().all(|of| of.name != backend) {
        let name = KNOWN_BACKENDS.iter().find(|known| known.name == backend)?.name;
        return Some(EngineError::BackendNotBuilt { name, feature: name }.to_string());
    }
    let choice: AdapterChoice = adapter.parse().unwrap_or_else(|never: Infallible| match never {});
    if devices(backend) != Devices::Adapters || choice.is_of_several() {
        return None;
    }
    choice.choose(adapters).err().map(|error| error.to_string())
}

/// Nothing is fetched into a folder that was chosen.
fn of_data(run: &RunSettings, arguments: &StudyArgs, data: &DataFolder) -> Option<String> {
    let folder = arguments.data.folder.as_ref()?;
    let set = engine::data_set(run.network().ok()?.data_set)?;
    (data.availability(set) == Availability::Missing).then(|| {
        format!("{} is not in {}; `{}` fetches it", set.name, folder.display(), fetching(&set.name, Some(folder)))
    })
}
