//! Uploads to the open class: one language model from a file, which competes by its loss (docs/WORKLOADS.md).

use engine::{OPEN, Standard, Workload};
use results::Length;
use serde_json::Value;

use crate::arguments::{BenchmarkArgs, TrainingArgs};
use crate::failure::{Failure, Result};
use crate::workload_file;

pub(super) struct OpenEntry {
    pub(super) workload: Workload,
    /// Its definition, with which the run is announced.
    pub(super) network: Value,
}

/// Returns the network that a run uploads to the open class, if it uploads one from a file.
pub(super) fn entry(arguments: &BenchmarkArgs) -> Result<Option<OpenEntry>> {
    let TrainingArgs { workloads, files, .. } = &arguments.training;
    let Some(file) = files.files.first().filter(|_| arguments.upload_to.is_some()) else { return Ok(None) };
    if files.files.len() > 1 || !workloads.is_empty() {
        let text = "--upload accepts a single network from a file: give one --workload-file, and no --workload";
        return Err(Failure::Usage(text.to_owned()));
    }
    check_options(&arguments.training)?;
    let mut workload = workload_file::load(file)?;
    if let Some(Length::Epochs(epochs)) = arguments.training.length() {
        workload.published_epochs = epochs.get();
    }
    let network = workload.described().unwrap_or_default();
    match Standard::of_network(&network) {
        Ok(_) => Ok(Some(OpenEntry { workload, network })),
        Err(refusal) => {
            let (file, message) = (file.display(), refusal.message.trim_end_matches('.'));
            Err(Failure::Usage(format!("--upload does not accept the network of {file}: {message}")))
        }
    }
}

/// Refuses options that change a network's recipe, which is announced as it is in the file.
fn check_options(training: &TrainingArgs) -> Result<()> {
    let seconds = OPEN.training_seconds;
    let (option, advice) = match training.length() {
        _ if training.seed.is_some() => ("--seed", "the leaderboard chooses the seed".to_owned()),
        _ if training.batch_size.is_some() => ("--batch-size", "set `batch_size` in the file".to_owned()),
        _ if training.learning_rate.is_some() => ("--learning-rate", "set `learning_rate` in the file".to_owned()),
        _ if training.target_accuracy.is_some() => ("--target-accuracy", "set `target_loss` in the file".to_owned()),
        Some(Length::Steps(_)) => ("--steps", "use --epochs, or `epochs` in the file".to_owned()),
        Some(Length::Seconds(_)) => {
            ("--seconds", format!("use --epochs; training ends after {seconds} s at the latest"))
        }
        Some(Length::Epochs(_)) | None => return Ok(()),
    };
    Err(Failure::Usage(format!("{option} does not apply to the upload of a network from a file: {advice}")))
}
