//! Uploading the records of a study, each once.

use results::{InputMode, RunRecord};

use super::resume;
use crate::commands::submission::Submission;
use crate::failure::Failure;
use crate::json_output::to_json;
use crate::screen::Screen;
use crate::study::{Ending, Finished, Folder, Uploaded};

/// Uploads what the leaderboard does not have yet, after asking once, and notes each in its cell's file at once, so that it
/// can be gone on with.
///
/// # Errors
/// The leaderboard cannot be reached or refuses; a cell's file cannot be written.
pub(super) fn upload(submission: &Submission, folder: &Folder, finished: &mut [Finished]) -> Result<(), Failure> {
    let leaderboard = submission.leaderboard.address().to_string();
    let mut missing: Vec<(&mut Finished, String)> = Vec::new();
    let (mut unprovable, mut of_several, mut streamed) = (0_usize, 0_usize, 0_usize);
    for finished in finished {
        let is_there = finished.uploads.iter().any(|upload| upload.leaderboard == leaderboard);
        let is_due = finished.ending == Ending::Completed && !is_there;
        let Some((settings, record)) = finished.settings.run().zip(finished.run()).filter(|_| is_due) else { continue };
        if settings.is_of_external_program() || settings.file.is_some() {
            unprovable += 1;
        } else if record.devices() > 1 {
            of_several += 1;
        } else if record.input_mode() != InputMode::Resident {
            streamed += 1;
        } else {
            let json = to_json(record)?;
            missing.push((finished, json));
        }
    }
    let screen = Screen::Error;
    if unprovable > 0 {
        let text = format!(
            "{unprovable} of external programs, or of networks of files, stay here: nobody could prove what they trained."
        );
        screen.prose("", &text, 0)?;
    }
    if of_several > 0 {
        let text = format!("{of_several} of several devices stay here: leaderboards rank one device each.");
        screen.prose("", &text, 0)?;
    }
    if streamed > 0 {
        let text =
            format!("{streamed} with streamed input stay here: leaderboards rank devices on which the data set lies.");
        screen.prose("", &text, 0)?;
    }
    if missing.is_empty() {
        return screen.line(&format!("{leaderboard} has every record that it takes."));
    }
    if !submission.asks(&about(&leaderboard, &missing), "Upload all of them?", &missing[0].1)? {
        return screen.line("Not uploaded.");
    }
    let count = missing.len();
    for (number, (finished, json)) in (1..).zip(missing) {
        let advice = || Some(again(folder, number - 1, count));
        let accepted = submission.import(json)?.map_err(|error| Failure::Upload { error, advice: advice() })?;
        let address = submission.leaderboard.address();
        finished.uploads.push(Uploaded {
            leaderboard: leaderboard.clone(),
            permalink: address.join(&accepted.permalink),
            deletion_link: address.join(&accepted.deletion_link),
            run_id: accepted.run_id,
        });
        folder.keep(finished)?;
        let text = format!("{} of {count}: {}", number, finished.settings.text());
        screen.prose("  uploaded ", &text, 4)?;
    }
    let cells = folder.path().join("cells");
    let text = format!(
        "{count} record{} uploaded, unverified as nobody registered them; permalinks and the links that delete them are in the \
         files of {}. Keep these: the links are nowhere else.",
        if count == 1 { " was" } else { "s were" },
        cells.display()
    );
    screen.prose("", &text, 0)
}

fn about(leaderboard: &str, missing: &[(&mut Finished, String)]) -> String {
    let bytes: usize = missing.iter().map(|(_, json)| json.len()).sum();
    let records: Vec<&RunRecord> = missing.iter().filter_map(|(finished, _)| finished.run()).collect();
    let mut workloads: Vec<&str> =
        records.iter().flat_map(|record| &record.workloads).map(|workload| workload.workload.as_str()).collect();
    workloads.sort_unstable();
    workloads.dedup();
    format!(
        "To {leaderboard}: {} records, {bytes} bytes of JSON with the device and driver, system, settings, losses and times of {}. \
         Whoever asks to see it is shown the first.",
        records.len(),
        workloads.join(", ")
    )
}

fn again(folder: &Folder, uploaded: usize, count: usize) -> String {
    format!(
        "{uploaded} of {count} records were uploaded, which their cells say. To go on with the others:\n  {}",
        resume(folder.path())
    )
}
