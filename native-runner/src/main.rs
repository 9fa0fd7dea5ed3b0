//! Gradmark on the command line: trains real networks on this machine's GPU with the page's engine, and reports how
//! fast it learns.

mod arguments;
mod child;
mod cli;
mod commands;
mod data_folder;
mod device;
mod doctor;
mod export;
mod failure;
mod figures;
mod json_output;
mod leaderboard;
#[cfg(feature = "burn-remote")]
mod link;
mod machine;
mod meter;
mod program;
mod progress;
mod records;
mod report;
mod screen;
mod study;
mod system_files;
mod text;
mod tuning;
mod workload_file;

use std::iter;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use crate::screen::Screen;

fn main() -> ExitCode {
    let cli = Cli::read();
    screen::show_logs(cli.verbose);
    let result = match cli.command {
        None => commands::benchmark::benchmark(&cli.benchmark),
        Some(Command::Adapters(arguments)) => commands::list::adapters(&arguments),
        Some(Command::Workloads(arguments)) => commands::list::workloads(&arguments),
        Some(Command::Backends(arguments)) => commands::list::backends(&arguments),
        Some(Command::DataSets(arguments)) => commands::list::data_sets(&arguments),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments),
        Some(Command::Kernels(arguments)) => commands::kernels::kernels(&arguments),
        Some(Command::Steps(arguments)) => commands::steps::steps(&arguments),
        Some(Command::Study(arguments)) => commands::study::study(&arguments),
        Some(Command::Profile(arguments)) => commands::profile::profile(&arguments),
        Some(Command::Trace(arguments)) => commands::trace::trace(&arguments),
        Some(Command::Report(arguments)) => commands::report::report(&arguments),
        Some(Command::Export(arguments)) => commands::export_records::export_records(&arguments),
        Some(Command::Scaling(arguments)) => commands::scaling::scaling(&arguments),
        Some(Command::Compare(arguments)) => commands::compare_records::compare_records(&arguments),
        Some(Command::Upload(arguments)) => commands::upload::upload(&arguments),
        #[cfg(feature = "burn-remote")]
        Some(Command::ServeDevice(arguments)) => commands::serve_device::serve_device(&arguments),
        Some(Command::FetchData(arguments)) => commands::installation::fetch_data(&arguments),
        Some(Command::Completions(arguments)) => commands::installation::completions(&arguments, Cli::command()),
        Some(Command::Manual(arguments)) => commands::installation::manual(&arguments, Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of standard output has closed it, as `head` does.
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            report_failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn report_failure(failure: &Failure) {
    let screen = Screen::Error;
    let label = screen.paint(console::Style::new().red().bold(), "error:");
    let text = failure.to_string();
    for (first, line) in iter::once(format!("{label} ")).chain(iter::repeat(String::new())).zip(text.lines()) {
        // Commands and lines of files are not wrapped.
        let shown = if line.starts_with("  ") { screen.line(line) } else { screen.prose(&first, line, 0) };
        // If standard error is closed as well, only the exit status remains.
        drop(shown);
    }
    if failure.is_for_the_doctor() {
        drop(screen.prose("", "Run `native-runner doctor` to check the installation and get suggestions.", 0));
    }
}
