use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;
use console::Style;
use engine::backends::wgsl::{Details, Features};
use engine::{AdapterChoice, BackendState, DATA_SETS, DataSetDefinition, WORKLOADS, Workload};
use results::Adapter;
use serde::Serialize;

use crate::arguments::DataArgs;
use crate::data_folder::{Availability, LocalData};
use crate::failure::Result;
use crate::figures::goal;
use crate::json_output::{JsonTarget, to_json};
use crate::meter::MonotonicClock;
use crate::program::READY;
use crate::screen::Screen;
use crate::workload_file;

const SCREEN: Screen = Screen::Output;

pub(crate) fn adapters(arguments: &ListArgs) -> Result<()> {
    #[derive(Serialize)]
    struct AdapterListing {
        index: usize,
        default: bool,
        #[serde(flatten)]
        adapter: Adapter,
        features: Features,
    }

    let details = pollster::block_on(engine::backends::wgsl::details());
    let adapters: Vec<Adapter> = details.iter().map(|details| details.adapter.clone()).collect();
    let used = AdapterChoice::Any.choose(&adapters).ok();
    let list = |(index, Details { adapter, features, .. })| {
        let default = used == Some(index);
        AdapterListing { index, default, adapter, features }
    };
    let listed: Vec<AdapterListing> = details.into_iter().enumerate().map(list).collect();
    if arguments.json {
        return print_json(&listed);
    }
    if listed.is_empty() {
        let advice = "This machine offers no adapter to this program. Is a GPU driver with Vulkan, Metal or DX12 \
                      installed? `native-runner doctor` lists what is installed and missing. `--backend reference` \
                      trains on the processor, slowly.";
        return SCREEN.prose("", advice, 0);
    }
    for AdapterListing { index, default, adapter, features } in listed {
        SCREEN.prose(&format!("{index:>2}  "), &SCREEN.bold(&adapter.name), 4)?;
        let Features { f16, subgroup_lanes: lanes, matrix_side: side, .. } = features;
        let facts = [
            (true, adapter.kind.name().to_owned()),
            (true, adapter.api),
            (!adapter.driver.is_empty(), format!("driver {}", adapter.driver)),
            (true, if f16 { "f16" } else { "no f16" }.to_owned()),
            (lanes > 0, format!("subgroups of {lanes} lanes or more")),
            (side > 0, format!("matrix units for {side} × {side} numbers of f16")),
            (default, "used by default".to_owned()),
            (adapter.software, "software: used only with `--adapter cpu`, never ranked".to_owned()),
            (adapter.compatibility, "compatibility mode: its limits are below those of core WebGPU".to_owned()),
        ];
        let facts = facts.into_iter().filter_map(|(is_so, fact)| is_so.then_some(fact));
        SCREEN.prose("    ", &facts.collect::<Vec<_>>().join(" · "), 4)?;
    }
    Ok(())
}

pub(crate) fn workloads(arguments: &WorkloadsArgs) -> Result<()> {
    #[derive(Serialize)]
    struct WorkloadListing {
        #[serde(flatten)]
        workload: Workload,
        parameters: u64,
        /// Floating-point operations of one training sample, forward and backward.
        training_flops_per_sample: u64,
    }

    if arguments.schema {
        return print_json(&workload_file::definition::schema());
    }
    let workloads = if arguments.files.is_empty() {
        WORKLOADS.iter().map(|make| make()).collect()
    } else {
        arguments.files.iter().map(|file| workload_file::load(file)).collect::<Result<Vec<_>, _>>()?
    };
    let list = |workload: Workload| -> Result<_, engine::EngineError> {
        let parameters = workload.model.parameters()?;
        let training_flops_per_sample = workload.model.operations()?.training_flops();
        Ok(WorkloadListing { workload, parameters, training_flops_per_sample })
    };
    let listed: Vec<WorkloadListing> = workloads.into_iter().map(list).collect::<Result<_, _>>()?;
    if arguments.json {
        return print_json(&listed);
    }
    for (index, WorkloadListing { workload, parameters, .. }) in listed.iter().enumerate() {
        if index > 0 {
            SCREEN.line("")?;
        }
        SCREEN.prose(&format!("{}  ", SCREEN.bold(workload.name)), workload.title, 2)?;
        if !workload.description.is_empty() {
            SCREEN.prose("  ", workload.description, 2)?;
        }
        let target = goal(workload.target);
        let origin = if workload.is_built_in() { "as published" } else { "· from a file" };
        let facts = format!(
            "data {} · {parameters} parameters · batch size {} · target {target} · {} epochs {origin}",
            workload.data_set, workload.batch_size, workload.published_epochs
        );
        SCREEN.prose("  ", &facts, 2)?;
    }
    Ok(())
}

/// Lists all backends, built in or not, with the features that enable them.
pub(crate) fn backends(arguments: &ListArgs) -> Result<()> {
    let states = pollster::block_on(engine::backends::states(Rc::new(MonotonicClock::start())));
    if arguments.json {
        return print_json(&states);
    }
    let width = states.iter().map(|state| state.definition.name.len()).max().unwrap_or(0);
    for BackendState { definition, built, runs, needs, remark } in &states {
        let state = match (built, runs, needs) {
            (false, ..) => "not in this program".to_owned(),
            (true, false, None) => "cannot run here".to_owned(),
            (true, false, Some(words)) => format!("runs with {words}"),
            (true, true, _) => "runs here".to_owned(),
        };
        let state = match remark {
            // Otherwise it contains the requirements.
            Some(remark) if needs.is_none() => format!("{state}: {remark}"),
            _ => state,
        };
        show_backend(definition.name, width, *runs || needs.is_some(), definition.description, &state)?;
    }
    SCREEN.line("")?;
    SCREEN.prose("", "Other frameworks, as external programs (--program NAME; docs/EXTERNAL.md):", 0)?;
    let width = READY.iter().map(|ready| ready.name.len()).max().unwrap_or(0);
    for ready in READY {
        let python = ready.python();
        let runs = python.is_ok();
        let state = python.map(|python| format!("runs with {}", python.display()));
        let state = state.unwrap_or_else(|reason| format!("cannot run here: {reason}"));
        show_backend(ready.name, width, runs, ready.framework, &state)?;
    }
    Ok(())
}

fn show_backend(name: &str, width: usize, runs: bool, description: &str, state: &str) -> Result<()> {
    let style = if runs { Style::new().bold() } else { Style::new().dim() };
    let name = SCREEN.paint(style, format!("{name:width$}"));
    SCREEN.prose(&format!("{name}  "), description, width + 2)?;
    SCREEN.prose(&" ".repeat(width + 2), state, width + 2)
}

pub(crate) fn data_sets(arguments: &DataSetsArgs) -> Result<()> {
    #[derive(Serialize)]
    struct DataSetListing<'a> {
        #[serde(flatten)]
        definition: &'a DataSetDefinition,
        #[serde(flatten)]
        availability: Availability,
    }

    let folder = LocalData::new(&arguments.data);
    let listed =
        DATA_SETS.iter().map(|definition| DataSetListing { definition, availability: folder.availability(definition) });
    if arguments.list.json {
        return print_json(&listed.collect::<Vec<_>>());
    }
    let width = DATA_SETS.iter().map(|set| set.name.len()).max().unwrap_or(0);
    for DataSetListing { definition, availability } in listed {
        let name = SCREEN.bold(format!("{:width$}", definition.name));
        let train = definition.train;
        let shape = [train.height, train.width, train.channels].map(|size| size.to_string()).join(" × ");
        let kind = if definition.is_text() { "characters".to_owned() } else { format!("samples of {shape}") };
        let (samples, test, classes) = (train.samples, definition.test.samples, train.classes);
        let facts = format!("{samples} + {test} {kind} · {classes} classes · {}", availability.text());
        SCREEN.prose(&format!("{name}  "), &facts, width + 2)?;
    }
    Ok(())
}

fn print_json(value: &impl Serialize) -> Result<()> {
    JsonTarget::StandardOutput.write(&to_json(value)?)
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DataSetsArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

const WORKLOADS_EXAMPLES: &str = "\
Examples:
  native-runner workloads                          list the built-in workloads
  native-runner workloads --workload-file my_network.toml
                                                   check a file and show the size of its network
  native-runner workloads --schema > workload.schema.json
                                                   write the JSON Schema for editors";

#[derive(Debug, Args)]
#[command(after_help = WORKLOADS_EXAMPLES)]
pub(crate) struct WorkloadsArgs {
    /// TOML or JSON file of a network to show instead (docs/WORKLOADS.md). Repeatable
    #[arg(long = "workload-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the JSON Schema of these files
    #[arg(long, conflicts_with_all = ["files", "json"])]
    pub(crate) schema: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
