use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{io, thread};

use clap::Args;
use results::api::{AcceptedRun, Note, OPEN_SUITE};
use results::open_data::LICENCE_ADDRESS;
use results::{InputMode, RunRecord, WorkloadRecord};

use crate::arguments::ConsentArgs;
use crate::failure::LeaderboardError;
use crate::failure::{Failure, Result};
use crate::json_output::to_json;
use crate::leaderboard::{Address, LeaderboardClient, UploadKey, clean};
use crate::records::read_one;
use crate::screen::Screen;

pub(crate) fn upload(arguments: &UploadArgs) -> Result<()> {
    let mut record = read_one(&arguments.file)?;
    let is_announced = record.suite.name == OPEN_SUITE && record.run_id.is_some() && !arguments.unverified;
    let own = record.workloads.iter().find(|workload| workload.network.is_some());
    if let Some(WorkloadRecord { workload, .. }) = own.filter(|_| !is_announced) {
        return Err(Failure::Usage(format!(
            "{workload} is a network from a file, which a leaderboard accepts only in the open class and announced \
             before training: train it with --workload-file FILE --upload URL"
        )));
    }
    Uploader::check(record.devices(), record.input_mode())?;
    if arguments.unverified {
        record.run_id = None;
        record.nonce = None;
    }
    let submission = Uploader::new(&arguments.leaderboard, &arguments.consent)?;
    let json = to_json(&record)?;
    if !submission.is_agreed(&record, &json)? {
        return Screen::Error.line("Not uploaded.");
    }
    submission.send(&record, json, Screen::Output)
}

#[derive(Debug, Args)]
pub(crate) struct UploadArgs {
    /// Record to upload, as written by `--json` or a failed upload
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Leaderboard to upload to
    #[arg(long = "to", value_name = "URL")]
    pub(crate) leaderboard: Address,
    /// Upload as an unverified run even if it was registered, for example with another leaderboard
    #[arg(long)]
    pub(crate) unverified: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// Longest wait for a verdict, which takes seconds on an idle server.
const VERDICT_TIMEOUT: Duration = Duration::from_secs(180);
const VERDICT_POLLING_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct Uploader {
    pub(crate) leaderboard: LeaderboardClient,
    agreed_before: bool,
}

impl Uploader {
    /// Refuses runs that leaderboards do not rank.
    pub(crate) fn check(devices: u32, input: InputMode) -> Result<()> {
        let (run, rule) = match (devices, input) {
            (..2, InputMode::Resident) => return Ok(()),
            (2.., _) => (format!("on {devices} devices"), "single devices"),
            (..2, input) => (format!("with --input {}", input.name()), "only resident input"),
        };
        Err(Failure::Usage(format!("a run {run} cannot be uploaded, because leaderboards rank {rule}")))
    }

    pub(crate) fn new(address: &Address, consent: &ConsentArgs) -> Result<Self> {
        if !(consent.yes || io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let text = "an upload needs your agreement, but there is no terminal to ask on; agree with --yes";
            return Err(Failure::Usage(text.to_owned()));
        }
        let leaderboard = LeaderboardClient::new(address.clone(), consent.upload_timeout);
        Ok(Self { leaderboard, agreed_before: consent.yes })
    }

    pub(crate) fn is_agreed(&self, record: &RunRecord, json: &str) -> Result<bool> {
        let workloads: Vec<&str> = record.workloads.iter().map(|workload| workload.workload.as_str()).collect();
        let (address, bytes, workloads) = (&self.leaderboard.address, json.len(), workloads.join(" and "));
        let what = "the device and driver, system, settings, losses and times";
        let text = format!("To {address}: {bytes} bytes of JSON with {what} of {workloads}.");
        self.asks(&text, "Upload this record?", json)
    }

    /// Shows `text` and asks the user, who can view `json` first.
    pub(crate) fn asks(&self, text: &str, question: &str, json: &str) -> Result<bool> {
        let screen = Screen::Error;
        screen.line("")?;
        screen.prose("", text, 0)?;
        let open = format!(
            "Uploads are open data under CC0 ({LICENCE_ADDRESS}): anyone may read, copy and publish them. The deletion \
             link removes the upload from the leaderboard."
        );
        screen.prose("", &open, 0)?;
        if self.agreed_before {
            return Ok(true);
        }
        loop {
            screen.line(&format!("{question} [y]es, [N]o, [s]how it first"))?;
            // At the end of the input, the answer is empty.
            let mut answer = String::new();
            let read = io::stdin().read_line(&mut answer);
            read.map_err(|source| Failure::File { what: "standard input".to_owned(), source })?;
            match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => return Ok(true),
                "s" | "show" => screen.line(json)?,
                "n" | "no" | "" => return Ok(false),
                _ => {}
            }
        }
    }

    /// Uploads exactly `json`, the text of `record`, and shows the leaderboard's answer.
    pub(crate) fn send(&self, record: &RunRecord, json: String, screen: Screen) -> Result<()> {
        let accepted = match (&record.run_id, &record.nonce) {
            (Some(run_id), Some(_)) => self.leaderboard.submit(run_id, json),
            _ => self.import(json)?,
        }?;
        self.show(&accepted, screen)?;
        if accepted.verdict.being_verified { self.await_verdict(&accepted.run_id, screen) } else { Ok(()) }
    }

    /// Uploads exactly `json` as an unverified run, once despite retries. The inner error comes from the upload.
    pub(crate) fn import(&self, json: String) -> Result<Result<AcceptedRun, LeaderboardError>> {
        let key = UploadKey::of(&json).map_err(Failure::NoRandomness)?;
        let answer = self.leaderboard.import(json, &key.word);
        if matches!(answer, Ok(_) | Err(LeaderboardError::Refused { .. })) {
            key.forget();
        }
        Ok(answer)
    }

    /// Waits for the leaderboard to recompute parts of the run, for a limited time.
    fn await_verdict(&self, run_id: &str, screen: Screen) -> Result<()> {
        screen.line("")?;
        screen.prose("", "The run is being verified: the leaderboard trains random parts of it again.", 0)?;
        let start = Instant::now();
        while start.elapsed() < VERDICT_TIMEOUT {
            thread::sleep(VERDICT_POLLING_INTERVAL);
            // The leaderboard already has the run, so a missed answer changes nothing.
            let Ok(verdict) = self.leaderboard.verdict(run_id) else { continue };
            if !verdict.being_verified {
                screen.line(&format!("{:<15}{}", screen.bold("Verified"), verdict.tier.name()))?;
                return show_notes(&verdict.notes, screen);
            }
        }
        screen.prose("", "The verification takes longer than usual; the permalink will show the result.", 0)
    }

    fn show(&self, accepted: &AcceptedRun, screen: Screen) -> Result<()> {
        let address = &self.leaderboard.address;
        screen.line("")?;
        screen.line(&format!("{}       {}", screen.bold("Uploaded"), accepted.verdict.tier.name()))?;
        show_notes(&accepted.verdict.notes, screen)?;
        screen.line(&format!("{}      {}", screen.bold("Permalink"), address.join(&clean(&accepted.permalink))))?;
        screen.line(&format!("{}  {}", screen.bold("Deletion link"), address.join(&clean(&accepted.deletion_link))))?;
        let text = "Keep it secret: it is shown only once, and anyone who has it can delete the run.";
        screen.prose(INDENT, text, INDENT.len())
    }
}

/// Width of the labels.
const INDENT: &str = "               ";

fn show_notes(notes: &[Note], screen: Screen) -> Result<()> {
    notes.iter().try_for_each(|note| screen.prose(INDENT, &clean(&note.to_string()), INDENT.len()))
}
