use engine::{DATA_SETS, DataSetDefinition, DataSource};
use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding};
use crate::cli::{DataArgs, DoctorArgs};
use crate::data_folder::{Availability, DataFolder, fetching};

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::Data, title: "data sets", examine };

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let arguments = circumstances.arguments;
    DATA_SETS.iter().map(|set| of_set(set, &arguments.data, !arguments.quick)).collect()
}

/// Looks for a set, and reads it whole where that is wanted: every byte counts.
fn of_set(set: &'static DataSetDefinition, chosen: &DataArgs, whole: bool) -> Finding {
    // Each by itself, because what was read is kept.
    let mut folder = DataFolder::new(chosen);
    let availability = folder.availability(set);
    let details = json!({ "data_set": set.name, "availability": availability, "read": whole });
    let name = &set.name;
    let finding = match &availability {
        Availability::Files { folder: place } if whole => match pollster::block_on(folder.load(set)) {
            Ok(_) => Finding::fine(
                "data_set",
                format!("{name} is in {}, complete and as it was published.", place.display()),
            ),
            Err(error) => {
                let fetch = format!("`{}` fetches it again.", fetching(name, Some(place)));
                Finding::problem("data_set", format!("{name} cannot be used: {error}.")).with_advice(fetch)
            }
        },
        Availability::Files { folder: place } => {
            Finding::fine("data_set", format!("{name} is in {}; it was not read.", place.display()))
        }
        Availability::Generated => Finding::note("data_set", format!("{name} is generated here."))
            .with_advice("--babi names the folder of the published stories, where their accuracy is to be compared."),
        Availability::AlwaysGenerated => Finding::fine("data_set", format!("{name} is generated, here as everywhere.")),
        Availability::Missing => match &chosen.folder {
            Some(place) => {
                let advice = format!("{}, or leave --data and GRADMARK_DATA out.", fetch(name, chosen));
                Finding::problem(
                    "data_set",
                    format!("{name} is not in {}, where nothing is fetched unasked.", place.display()),
                )
                .with_advice(advice)
            }
            None => Finding::note("data_set", format!("{name} is not there yet; a run that needs it fetches it."))
                .with_advice(fetch(name, chosen)),
        },
    };
    finding.with_details(details)
}

fn fetch(name: &str, chosen: &DataArgs) -> String {
    format!("`{}`", fetching(name, chosen.folder.as_deref()))
}

/// The command that fetches what the usual suite needs, where a run would neither find nor fetch it.
pub(super) fn command_for_what_a_run_lacks(arguments: &DoctorArgs) -> Option<String> {
    arguments.data.folder.as_ref()?;
    let suite = engine::SUITES.iter().find(|suite| suite.name == "quick")?;
    let folder = DataFolder::new(&arguments.data);
    let needed = suite.workloads.iter().filter_map(|name| engine::data_set(engine::workload(name)?.data_set));
    let missing = needed.into_iter().find(|set| folder.availability(set) == Availability::Missing)?;
    Some(fetching(&missing.name, arguments.data.folder.as_deref()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::Severity;
    use super::*;

    fn chosen(folder: Option<PathBuf>) -> DataArgs {
        DataArgs { folder, babi: None }
    }

    #[test]
    fn a_chosen_folder_without_a_set_is_a_problem_with_the_command_that_fetches_it() {
        let folder = tempfile::tempdir().unwrap();
        let set = engine::data_set("mnist").unwrap();
        let found = of_set(set, &chosen(Some(folder.path().to_owned())), true);
        assert_eq!(found.severity, Severity::Problem);
        let command = format!("`native-runner fetch-data mnist --data {}`", folder.path().display());
        assert!(found.advice.as_ref().is_some_and(|advice| advice.starts_with(&command)), "{found:?}");
        // Half of it is damaged, which only reading tells.
        fs::write(folder.path().join("mnist-train.bin"), b"GMDS").unwrap();
        let severity = |whole| of_set(set, &chosen(Some(folder.path().to_owned())), whole).severity;
        assert_eq!((severity(true), severity(false)), (Severity::Problem, Severity::Fine));
    }

    #[test]
    fn a_run_lacks_data_only_where_a_folder_was_chosen_that_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut arguments = DoctorArgs::of_a_test();
        assert_eq!(command_for_what_a_run_lacks(&arguments), None);
        arguments.data.folder = Some(folder.path().to_owned());
        let command = command_for_what_a_run_lacks(&arguments).unwrap();
        assert!(command.starts_with("native-runner fetch-data mnist --data "), "{command}");
        fs::write(folder.path().join("mnist-train.bin"), b"GMDS").unwrap();
        assert_eq!(command_for_what_a_run_lacks(&arguments), None);
    }
}
