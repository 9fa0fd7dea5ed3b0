//! From what few devices were measured to do to what many would: the model of `docs/SCALING.md`, computed.

mod published;
mod records;
mod show;

use serde::Serialize;

use crate::cli::{JsonTarget, ScalingArgs};
use crate::commands::report;
use crate::failure::Failure;
use crate::json_output::to_json;
use published::PublishedScaling;
use records::{Held, Network, device, held, link, networks, runs};
use results::scaling::Transport;

/// Version of the layout of what `--json` writes.
const DOCUMENT_VERSION: u32 = 1;

/// What `--json` writes.
#[derive(Serialize)]
struct Document {
    schema_version: u32,
    /// What the records are of; absent without records.
    device: Option<String>,
    link: Option<Transport>,
    /// Records of several devices beside what the model makes of them.
    held: Vec<Held>,
    networks: Vec<Network>,
    published: Vec<PublishedScaling>,
}

/// Shows how steps would scale, and writes it as JSON where that is wanted.
///
/// # Errors
/// No records where some were named, records of different devices, and nothing that says what the link is.
pub(crate) fn scaling(arguments: &ScalingArgs) -> Result<(), Failure> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let typed = arguments.bandwidth.map(|bytes_per_second| Transport {
        latency_seconds: arguments.latency,
        bytes_per_second,
        added_bytes_per_second: None,
    });
    let document = if arguments.paths.is_empty() {
        if typed.is_some() {
            let text = "--bandwidth is for records, and none were named; the published steps say themselves how fast their link was";
            return Err(Failure::Usage(text.to_owned()));
        }
        Document {
            schema_version: DOCUMENT_VERSION,
            device: None,
            link: None,
            held: Vec::new(),
            networks: Vec::new(),
            published: published::all(),
        }
    } else {
        let input = report::input(&arguments.paths, None)?;
        let runs = runs(input.entries.iter().filter_map(|entry| entry.record.as_ref()));
        let device = device(&runs)?;
        let link = typed.map_or_else(|| link(&runs), Ok)?;
        let (held, networks) = (held(&runs), networks(&runs, &link));
        Document {
            schema_version: DOCUMENT_VERSION,
            device: Some(device),
            link: Some(link),
            held,
            networks,
            published: Vec::new(),
        }
    };
    let screen = JsonTarget::screen_beside(arguments.json.as_ref());
    show::show(&document, typed.is_some(), screen)?;
    arguments.json.as_ref().map_or(Ok(()), |target| target.write(&to_json(&document)?))
}
