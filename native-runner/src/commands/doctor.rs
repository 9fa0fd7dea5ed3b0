use clap::{Args, ValueEnum};

use crate::cli::{DataArgs, positive_seconds, short_text};
use crate::doctor;
use crate::doctor::privacy::Privacy;
use crate::doctor::{Circumstances, Report};
use crate::failure::Failure;
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::leaderboard::Address;

pub(crate) fn doctor(arguments: &DoctorArgs) -> Result<(), Failure> {
    match arguments.part {
        Some(DoctorPart::Adapters) => return doctor::graphics::list_for_the_doctor(),
        Some(DoctorPart::Trace) => return doctor::correctness::trace_for_the_doctor(arguments),
        None => {}
    }
    doctor::correctness::wanted(&arguments.backends)?;
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let report = Report::make(&mut Circumstances::of_this_machine(arguments));
    let report = Privacy::of_this_user().clean_report(report);
    let target = arguments.json.as_ref();
    deliver(doctor::show(&report, JsonTarget::screen_beside(target)), target, &to_json(&report)?)?;
    if report.verdict.trains { Ok(()) } else { Err(Failure::NothingTrains(report.verdict.sentence)) }
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  native-runner doctor                             look at everything, and let each back end compute a little
  native-runner doctor --quick                     only look
  native-runner doctor --adapter 0 --backend wgsl  is this device the trouble?
  native-runner doctor --upload https://gradmark.example
                                                   is the leaderboard to be reached, and is the clock right?
  native-runner doctor --json report.json          the same for programs

The report names no user, no host and no home folder, so that it can be pasted into a bug report. Each back end
computes in a process of its own, which may crash. Without --upload, nothing uses the network.

Exit status:
  0 a run would work   7 nothing can be trained as it was asked for, or a run would stop at its data
  2 wrong usage, or no such back end";

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Adapter to try, as for a run [default: all, and the processor where a back end computes on it]
    #[arg(long, value_name = "ADAPTER", value_parser = short_text)]
    pub(crate) adapter: Option<String>,
    /// Back ends to try, separated by commas [default: all but the plain reference]
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',')]
    pub(crate) backends: Vec<String>,
    /// Only look: no back end computes, and no data set is read
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seconds that a back end may take to show that it computes rightly
    #[arg(long, value_name = "X", default_value_t = 120.0, value_parser = positive_seconds)]
    pub(crate) trace_seconds: f64,
    /// Leaderboard to look at as well
    #[arg(long = "upload", value_name = "URL")]
    pub(crate) leaderboard: Option<Address>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Write everything as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Data and output")]
    pub(crate) json: Option<JsonTarget>,
    /// The part of the work that the program gives to another process of its own
    #[arg(long, value_enum, hide = true)]
    pub(crate) part: Option<DoctorPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoctorPart {
    Adapters,
    Trace,
}

#[cfg(test)]
impl DoctorArgs {
    pub(crate) fn of_a_test() -> Self {
        use clap::Parser as _;

        #[derive(clap::Parser)]
        struct Alone {
            #[command(flatten)]
            doctor: DoctorArgs,
        }

        let mut arguments = Alone::parse_from(["doctor"]).doctor;
        // Independent of the tests' environment.
        arguments.data = DataArgs { folder: None, babi: None };
        arguments
    }
}
