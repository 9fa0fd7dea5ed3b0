use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::{Cli, CompletionsArgs, ManualArgs};
use crate::failure::Failure;
use crate::json_output::cannot_write;
use crate::screen::Screen;

/// Prints what a shell needs to complete our words.
pub(crate) fn completions(arguments: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    // Made in memory, because the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    io::stdout().lock().write_all(&script).map_err(Failure::Output)
}

/// Prints the manual page, or writes it and that of each subcommand into a folder.
pub(crate) fn manual(arguments: &ManualArgs) -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.output else {
        return io::stdout().lock().write_all(&page(command)?).map_err(Failure::Output);
    };
    fs::create_dir_all(folder).map_err(|source| cannot_write(folder, source))?;
    write_pages(&command, folder)?;
    Screen::Error.line(&format!("The manual is in {}.", folder.display()))
}

fn write_pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    // Once built, a subcommand's name for display is `native-runner-upload`, as its page is called.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command.clone())?).map_err(|source| cannot_write(&path, source))?;
    command.get_subcommands().try_for_each(|subcommand| write_pages(subcommand, folder))
}

/// The page of one command. Its examples are set as they are typed, which clap_mangen alone would run together.
fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let examples = command.get_after_help().map(ToString::to_string);
    let mut page = Vec::new();
    Man::new(command.after_help(None::<&'static str>)).render(&mut page).map_err(Failure::Output)?;
    if let Some(examples) = examples {
        page.extend_from_slice(b".SH EXAMPLES AND EXIT STATUS\n.nf\n");
        for line in examples.lines() {
            // A backslash would begin an escape, and a point or an apostrophe at the start a request.
            page.extend_from_slice(format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-")).as_bytes());
        }
        page.extend_from_slice(b".fi\n");
    }
    Ok(page)
}
