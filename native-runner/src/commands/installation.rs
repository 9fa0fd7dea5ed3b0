use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;
use engine::{DATA_SETS, DataSet, DataSource};

use crate::arguments::DataArgs;
use crate::data_folder::{self, LocalData, place_to_fetch_to};
use crate::failure::{Failure, Result};
use crate::json_output::{cannot_write, replace};
use crate::leaderboard::{Address, LeaderboardClient};
use crate::screen::Screen;
use crate::text::did_you_mean;

pub(crate) fn completions(arguments: &CompletionsArgs, mut command: clap::Command) -> Result<()> {
    let name = command.get_name().to_owned();
    // The script is generated in memory, because the generator panics on write errors.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    io::stdout().lock().write_all(&script).map_err(Failure::Output)
}

pub(crate) fn manual(arguments: &ManualArgs, command: clap::Command) -> Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.output else {
        return io::stdout().lock().write_all(&page(command)?).map_err(Failure::Output);
    };
    fs::create_dir_all(folder).map_err(|source| cannot_write(folder, source))?;
    write_pages(&command, folder)?;
    Screen::Error.line(&format!("The manual is in {}.", folder.display()))
}

fn write_pages(command: &clap::Command, folder: &Path) -> Result<()> {
    // After `build`, the display name of a subcommand is `native-runner-upload`, as is the name of its page.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command.clone())?).map_err(|source| cannot_write(&path, source))?;
    command.get_subcommands().try_for_each(|subcommand| write_pages(subcommand, folder))
}

/// Renders the page of one command. Its examples keep their line breaks, which clap_mangen would remove.
fn page(command: clap::Command) -> Result<Vec<u8>> {
    let examples = command.get_after_help().map(ToString::to_string);
    let mut page = Vec::new();
    Man::new(command.after_help(None::<&'static str>)).render(&mut page).map_err(Failure::Output)?;
    if let Some(examples) = examples {
        page.extend_from_slice(b".SH EXAMPLES AND EXIT STATUS\n.nf\n");
        for line in examples.lines() {
            // A backslash would begin an escape, and a leading period or apostrophe a request.
            page.extend_from_slice(format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-")).as_bytes());
        }
        page.extend_from_slice(b".fi\n");
    }
    Ok(page)
}

#[derive(Debug, Args)]
pub(crate) struct FetchDataArgs {
    /// Leaderboard to fetch from, which must serve them [default: the published originals from npm's registry]
    #[arg(long = "from", value_name = "URL")]
    pub(crate) leaderboard: Option<Address>,
    /// Also write compressed files, which a server sends to browsers
    #[arg(long, conflicts_with = "leaderboard")]
    pub(crate) compressed: bool,
    /// Data sets to fetch, such as `mnist` [default: all]
    #[arg(value_name = "SET")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArgs {
    /// Folder to write the pages of all commands to, instead of printing the first
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}

/// Download time of 150 MB at half a megabit per second.
const DOWNLOAD_TIMEOUT_SECONDS: f64 = 3600.0;

/// Fetches missing data sets: the published originals, or converted files from a leaderboard. Their SHA-256 sums are
/// checked, so any leaderboard is safe.
pub(crate) fn fetch_data(arguments: &FetchDataArgs) -> Result<()> {
    let of_files = DATA_SETS.iter().filter(|set| set.compact_files().is_some());
    let known: Vec<&str> = of_files.map(|set| set.name.as_str()).collect();
    if let Some(unknown) = arguments.sets.iter().find(|name| !known.contains(&name.as_str())) {
        let (known, hint) = (known.join(", "), did_you_mean(unknown, known.iter().copied()));
        return Err(Failure::Usage(format!("there is no data set {unknown} to fetch; available: {known}{hint}")));
    }
    let folder = arguments.data.folder.clone().unwrap_or_else(place_to_fetch_to);
    fs::create_dir_all(&folder).map_err(|source| cannot_write(&folder, source))?;
    let wanted = |name: &str| arguments.sets.is_empty() || arguments.sets.iter().any(|set| set == name);
    let Some(address) = &arguments.leaderboard else {
        let sets: Vec<&str> = known.into_iter().filter(|name| wanted(name)).collect();
        data_folder::make(&sets, &folder, arguments.compressed)?;
        return Screen::Error.line(&format!("{} in {}: every byte verified.", sets.join(", "), folder.display()));
    };
    let leaderboard = LeaderboardClient::new(address.clone(), DOWNLOAD_TIMEOUT_SECONDS);
    for definition in DATA_SETS.iter().filter(|set| wanted(&set.name)) {
        let Some([train, test]) = definition.compact_files() else { continue };
        let chosen = DataArgs { folder: Some(folder.clone()), babi: None };
        if pollster::block_on(LocalData::new(&chosen).load(definition)).is_ok() {
            Screen::Error.line(&format!("{} is already in {}.", definition.name, folder.display()))?;
            continue;
        }
        let megabytes = (train.bytes + test.bytes) / 1_000_000;
        Screen::Error.line(&format!("Fetching {} ({megabytes} MB).", definition.name))?;
        let [of_train, of_test] = [train, test].map(|file| leaderboard.data_file(&file.file, file.bytes));
        let (of_train, of_test) = (of_train?, of_test?);
        DataSet::from_files(definition, of_train.clone(), of_test.clone()).map_err(engine::EngineError::from)?;
        for (file, content) in [(train, of_train), (test, of_test)] {
            replace(&folder.join(&file.file), &content)?;
        }
    }
    Ok(())
}
