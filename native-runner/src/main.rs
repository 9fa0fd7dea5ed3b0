//! Gradmark on the command line: trains real networks on this machine's GPU with the same engine as
//! the page, and says how fast it learns.

mod battery;
mod cli;
mod clock;
mod commands;
mod data_folder;
mod device;
#[cfg(feature = "wgsl")]
mod doctor;
mod export;
mod failure;
mod figures;
mod idempotency_key;
mod interrupt;
mod json_output;
mod kept;
mod kernel_results;
#[cfg(feature = "wgsl")]
mod leaderboard;
#[cfg(feature = "burn-remote")]
mod link;
mod logs;
mod meter;
mod processes;
mod processor;
mod program;
mod progress;
mod provenance;
mod published_data;
mod records;
mod refusal;
mod report;
mod screen;
mod shell;
mod study;
mod suggestion;
mod table;
mod tls;
mod workload_file;

use std::iter;
use std::process::ExitCode;

use cli::{Cli, Command, Installation};
use failure::Failure;
use screen::Screen;

fn main() -> ExitCode {
    let cli = Cli::read();
    logs::show(cli.verbose);
    let result = match cli.command {
        None => commands::benchmark(&cli.benchmark),
        Some(Command::Adapters(arguments)) => commands::adapters(&arguments),
        Some(Command::Workloads(arguments)) => commands::workloads(&arguments),
        Some(Command::Backends(arguments)) => commands::backends(&arguments),
        Some(Command::DataSets(arguments)) => commands::data_sets(&arguments),
        #[cfg(feature = "wgsl")]
        Some(Command::Doctor(arguments)) => commands::doctor(&arguments),
        #[cfg(feature = "wgsl")]
        Some(Command::Kernels(arguments)) => commands::kernels(&arguments),
        Some(Command::Steps(arguments)) => commands::steps(&arguments),
        Some(Command::Study(arguments)) => commands::study(&arguments),
        #[cfg(feature = "wgsl")]
        Some(Command::Profile(arguments)) => commands::profile(&arguments),
        Some(Command::Trace(arguments)) => commands::trace(&arguments),
        Some(Command::Report(arguments)) => commands::report(&arguments),
        Some(Command::Export(arguments)) => commands::export_records(&arguments),
        Some(Command::Scaling(arguments)) => commands::scaling(&arguments),
        Some(Command::Compare(arguments)) => commands::compare_records(&arguments),
        Some(Command::Upload(arguments)) => commands::upload(&arguments),
        #[cfg(feature = "burn-remote")]
        Some(Command::ServeDevice(arguments)) => commands::serve_device(&arguments),
        Some(Command::Installation(Installation::FetchData(arguments))) => commands::fetch_data(&arguments),
        Some(Command::Installation(Installation::Completions(arguments))) => commands::completions(&arguments),
        Some(Command::Installation(Installation::Manual(arguments))) => commands::manual(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has read enough, as `head` does.
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn report(failure: &Failure) {
    let screen = Screen::Error;
    let label = screen.paint(console::Style::new().red().bold(), "error:");
    let text = failure.to_string();
    for (first, line) in iter::once(format!("{label} ")).chain(iter::repeat(String::new())).zip(text.lines()) {
        // A command, or a line of a file, stays whole.
        let shown = if line.starts_with("  ") { screen.line(line) } else { screen.prose(&first, line, 0) };
        // With standard error gone as well, the exit status is all that is left to say it with.
        drop(shown);
    }
    if failure.is_for_the_doctor() {
        drop(screen.prose(
            "",
            "`native-runner doctor` says what is installed, what is wrong with it, and what to do.",
            0,
        ));
    }
}
