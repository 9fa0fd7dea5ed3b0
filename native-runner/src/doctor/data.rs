use std::fs::OpenOptions;
use std::path::Path;
use std::{fs, io};

use engine::{DATA_SETS, DataSetDefinition, DataSource};
use serde_json::json;

use crate::arguments::DataArgs;
use crate::data_folder::{Availability, LocalData, fetching};
use crate::doctor::circumstances::Severity::{Fine, Note, Problem, Warning};
use crate::doctor::circumstances::{Circumstances, Diagnosis, DoctorArgs};
use crate::machine::cache;

pub(crate) fn examine_data_sets(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let arguments = circumstances.arguments;
    DATA_SETS.iter().map(|set| of_set(set, &arguments.data, !arguments.quick)).collect()
}

/// Finds a data set. Verifies all of its content if `whole`.
fn of_set(set: &'static DataSetDefinition, chosen: &DataArgs, whole: bool) -> Diagnosis {
    // A new reader for each set, because loaded sets stay in memory.
    let mut folder = LocalData::new(chosen);
    let availability = folder.availability(set);
    let details = json!({ "data_set": set.name, "availability": availability, "read": whole });
    let name = &set.name;
    let fetch = format!("`{}`", fetching(name, chosen.folder.as_deref()));
    let (severity, sentence, advice) = match &availability {
        Availability::Files { folder: place } if whole => match pollster::block_on(folder.load(set)) {
            Ok(_) => (Fine, format!("is in {}, complete and unmodified", place.display()), None),
            Err(error) => {
                let fetch = format!("`{}` fetches it again.", fetching(name, Some(place)));
                (Problem, format!("cannot be used: {error}"), Some(fetch))
            }
        },
        Availability::Files { folder: place } => {
            (Fine, format!("is in {}; it was not verified", place.display()), None)
        }
        Availability::Generated => {
            let advice = "Set --babi to the folder of the published stories to compare accuracies with published ones.";
            (Note, "is generated here".to_owned(), Some(advice.to_owned()))
        }
        Availability::AlwaysGenerated => (Fine, "is always generated".to_owned(), None),
        Availability::Missing => match &chosen.folder {
            Some(place) => {
                let sentence = format!("is not in {}, and runs do not fetch into a chosen folder", place.display());
                (Problem, sentence, Some(format!("{fetch}, or unset --data and GRADMARK_DATA.")))
            }
            None => (Note, "is missing; a run that needs it fetches it".to_owned(), Some(fetch)),
        },
    };
    Diagnosis { advice, ..Diagnosis::new(severity, "data_set", format!("{name} {sentence}.")).with_details(details) }
}

/// Returns the command that fetches the data of the quick suite, if a run would neither find nor fetch it.
pub(crate) fn command_for_what_a_run_lacks(arguments: &DoctorArgs) -> Option<String> {
    arguments.data.folder.as_ref()?;
    let suite = engine::SUITES.iter().find(|suite| suite.name == "quick")?;
    let folder = LocalData::new(&arguments.data);
    let needed = suite.workloads.iter().filter_map(|name| engine::data_set(engine::workload(name)?.data_set));
    let missing = needed.into_iter().find(|set| folder.availability(set) == Availability::Missing)?;
    Some(fetching(&missing.name, arguments.data.folder.as_deref()))
}

pub(crate) fn examine_cache(_: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let Some(folder) = cache() else {
        let advice = "Set HOME or XDG_CACHE_HOME to store data sets and tuned kernels.";
        return vec![Diagnosis::new(Warning, "cache", "This system has no cache folder.").with_advice(advice)];
    };
    vec![judge_cache(&folder, try_to_write(&folder))]
}

/// Writes and removes a file in the folder, or in its closest existing parent.
fn try_to_write(folder: &Path) -> io::Result<()> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists()).ok_or(io::ErrorKind::NotFound)?;
    let probe = existing.join(format!(".gradmark-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&probe)?;
    fs::remove_file(probe)
}

fn judge_cache(folder: &Path, written: io::Result<()>) -> Diagnosis {
    let shown = folder.display();
    let details = json!({ "path": folder, "writable": written.is_ok() });
    let finding = match written {
        Ok(()) => Diagnosis::new(Fine, "cache", format!("The cache is {shown} and is writable.")),
        Err(error) => {
            let lost = "Every run tunes kernels again, and data sets cannot be stored there.";
            Diagnosis::new(Warning, "cache", format!("The cache {shown} is not writable: {error}. {lost}"))
                .with_advice("Give this user write permission, or set XDG_CACHE_HOME to another folder.")
        }
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_or_damaged_data_in_a_chosen_folder_fails() {
        let folder = tempfile::tempdir().unwrap();
        let set = engine::data_set("mnist").unwrap();
        let chosen = DataArgs { folder: Some(folder.path().to_owned()), babi: None };
        let found = of_set(set, &chosen, true);
        assert_eq!(found.severity, Problem);
        let command = format!("`native-runner fetch-data mnist --data {}`", folder.path().display());
        assert!(found.advice.as_ref().is_some_and(|advice| advice.starts_with(&command)), "{found:?}");
        // Half of it is damaged, which only reading detects.
        fs::write(folder.path().join("mnist-train.bin"), b"GMDS").unwrap();
        let severity = |whole| of_set(set, &chosen, whole).severity;
        assert_eq!((severity(true), severity(false)), (Problem, Fine));
    }

    #[test]
    fn a_cache_is_tried_without_leaving_anything_behind() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("not/there/yet");
        assert_eq!(judge_cache(&deep, try_to_write(&deep)).severity, Fine);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let inside = file.join("cache");
        assert_eq!(judge_cache(&inside, try_to_write(&inside)).severity, Warning);
    }
}
