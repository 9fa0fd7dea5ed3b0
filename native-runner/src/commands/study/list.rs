use console::Style;
use serde::Serialize;

use crate::cli::JsonTarget;
use crate::failure::Failure;
use crate::json_output::to_json;
use crate::screen::Screen;
use crate::study::{Definition, Machine, Plan, STUDIES};

/// What `--json` writes of a study.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    #[serde(flatten)]
    definition: &'a Definition,
    cells: usize,
}

/// Lists the studies that are built in: what each asks, which published table it repeats, and how it differs.
pub(super) fn list(json: Option<&JsonTarget>) -> Result<(), Failure> {
    let broken = |name: &str, error: String| Failure::Usage(format!("{name}: {error}"));
    let mut studies = Vec::new();
    for (name, text) in STUDIES {
        let definition = Definition::parse(text).map_err(|error| broken(name, error))?;
        let plan =
            Plan::new(name, definition.clone(), 1.0, Machine::this(false)).map_err(|error| broken(name, error))?;
        studies.push((*name, definition, plan.cells.len()));
    }
    if let Some(target) = json {
        let listed: Vec<Listed<'_>> =
            studies.iter().map(|(name, definition, cells)| Listed { name, definition, cells: *cells }).collect();
        return target.write(&to_json(&listed)?);
    }
    let screen = Screen::Output;
    for (index, (name, definition, cells)) in studies.iter().enumerate() {
        if index > 0 {
            screen.line("")?;
        }
        let name = screen.paint(Style::new().bold(), name);
        screen.prose(&format!("{name}  "), &format!("{} ({cells} cells)", definition.title), 2)?;
        for (label, text) in [("repeats", &definition.repeats), ("differs", &definition.differs)] {
            let label = screen.paint(Style::new().dim(), label);
            text.as_ref().map_or(Ok(()), |text| screen.prose(&format!("  {label}  "), text.trim(), 11))?;
        }
    }
    Ok(())
}
