use std::fs;
use std::path::Path;

use engine::{DATA_SETS, DataFile, DataSet, DataSetDefinition, Origin};

use crate::cli::FetchDataArgs;
use crate::data_folder::place_to_fetch_to;
use crate::failure::Failure;
use crate::json_output::{cannot_write, replace};
use crate::leaderboard::Leaderboard;
use crate::published_data;
use crate::screen::Screen;
use crate::suggestion::did_you_mean;

/// Seconds for one file: 150 MB over half a megabit a second.
const PATIENCE_SECONDS: f64 = 3600.0;

/// Fetches the data sets that are not there: the published originals, or the finished files from a leaderboard. What
/// comes out is held to the registered SHA-256 sums, so that it does not matter whose leaderboard it is.
pub(crate) fn fetch_data(arguments: &FetchDataArgs) -> Result<(), Failure> {
    let of_files = DATA_SETS.iter().filter(|set| matches!(set.origin, Origin::Files { .. }));
    let known: Vec<&str> = of_files.map(|set| set.name.as_str()).collect();
    if let Some(unknown) = arguments.sets.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::Usage(format!(
            "there is no data set {unknown} to fetch; there are {}{}",
            known.join(", "),
            did_you_mean(unknown, known.iter().copied())
        )));
    }
    let folder = arguments.data.folder.clone().unwrap_or_else(place_to_fetch_to);
    fs::create_dir_all(&folder).map_err(|source| cannot_write(&folder, source))?;
    let wanted = |name: &str| arguments.sets.is_empty() || arguments.sets.iter().any(|set| set == name);
    let Some(address) = &arguments.leaderboard else {
        let sets: Vec<&str> = known.into_iter().filter(|name| wanted(name)).collect();
        published_data::make(&sets, &folder, arguments.compressed)?;
        return Screen::Error.line(&format!("{} in {}: every byte verified.", sets.join(" and "), folder.display()));
    };
    let leaderboard = Leaderboard::new(address.clone(), PATIENCE_SECONDS);
    for definition in DATA_SETS.iter().filter(|set| wanted(&set.name)) {
        let Origin::Files { train, test } = &definition.origin else { continue };
        if is_good(definition, &folder) {
            Screen::Error.line(&format!("{} is in {} already.", definition.name, folder.display()))?;
            continue;
        }
        fetch(&leaderboard, definition, [train, test], &folder)?;
    }
    Ok(())
}

fn is_good(definition: &'static DataSetDefinition, folder: &Path) -> bool {
    let Some(files) = definition.file_names() else { return false };
    let [train, test] = files.map(|name| fs::read(folder.join(name)));
    match (train, test) {
        (Ok(train), Ok(test)) => DataSet::from_files(definition, train, test).is_ok(),
        _ => false,
    }
}

fn fetch(
    leaderboard: &Leaderboard,
    definition: &'static DataSetDefinition,
    files: [&DataFile; 2],
    folder: &Path,
) -> Result<(), Failure> {
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    Screen::Error.line(&format!("Fetching {} ({} MB).", definition.name, bytes / 1_000_000))?;
    let [train, test] = files.map(|file| leaderboard.data_file(&file.file, file.bytes));
    let (train, test) = (train?, test?);
    DataSet::from_files(definition, train.clone(), test.clone()).map_err(engine::EngineError::from)?;
    for (file, content) in files.iter().zip([train, test]) {
        replace(&folder.join(&file.file), &content)?;
    }
    Ok(())
}
