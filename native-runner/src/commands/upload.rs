use super::submission::Submission;
use crate::cli::UploadArgs;
use crate::failure::Failure;
use crate::json_output::to_json;
use crate::records::read_one;
use crate::screen::Screen;

/// Uploads a record that was kept in a file.
pub(crate) fn upload(arguments: &UploadArgs) -> Result<(), Failure> {
    let mut record = read_one(&arguments.file)?;
    if let Some(own) = record.workloads.iter().find(|workload| workload.network.is_some()) {
        let text = format!(
            "a leaderboard takes only networks that it has itself, and {} is one of a file: nobody could prove it",
            own.workload
        );
        return Err(Failure::Usage(text));
    }
    Submission::refuse_several(record.devices())?;
    Submission::refuse_streamed(record.input_mode())?;
    if arguments.unverified {
        record.run_id = None;
        record.nonce = None;
    }
    let submission = Submission::new(&arguments.leaderboard, &arguments.consent)?;
    let json = to_json(&record)?;
    if !submission.is_agreed(&record, &json)? {
        return Screen::Error.line("Not uploaded.");
    }
    submission.send(&record, json, Screen::Output)
}
