//! What values may be, and what is said of those that may not.

use engine::Workload;
use results::Precision;

use crate::failure::Failure;
use crate::workload_file::is_file_name;

/// A negative number is a wrong value, and no unknown option.
pub(super) fn accept_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| {
            let takes_values = argument.get_action().takes_values();
            argument.allow_negative_numbers(takes_values)
        })
        .mut_subcommands(accept_negative_numbers)
}

/// A name of a device. An empty one would be a part of every name.
pub(super) fn short_text(text: &str) -> Result<String, String> {
    results::check_name(text.trim(), 100)?;
    Ok(text.trim().to_owned())
}

pub(super) fn precision(text: &str) -> Result<Precision, String> {
    Precision::named(text.trim()).ok_or_else(|| {
        let known: Vec<&str> = Precision::ALL.into_iter().map(Precision::name).collect();
        format!("it must be one of {}", known.join(", "))
    })
}

pub(super) fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("it must be a number of seconds above 0 and at most a day".to_owned()),
    }
}

/// The workloads with these names, each once.
///
/// # Errors
/// A name that is not in the registry; the error lists those that are.
pub(crate) fn find_workloads<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Workload>, Failure> {
    let mut found: Vec<Workload> = Vec::new();
    for name in names {
        if is_file_name(name) {
            let text = format!(
                "there is no workload named `{name}`; --workload-file trains the network that a file describes"
            );
            return Err(Failure::Usage(text));
        }
        let workload = engine::workload(name).ok_or_else(|| engine::EngineError::UnknownWorkload {
            name: name.to_owned(),
            known: engine::WORKLOADS.iter().map(|make| make().name.to_owned()).collect(),
        })?;
        if found.iter().all(|other| other.name != workload.name) {
            found.push(workload);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_named_twice_runs_once() {
        let found = find_workloads(["caffe-mnist", "caffe-mnist"]).unwrap();
        assert_eq!(found.len(), 1);
    }
}
