use crate::cli::{DoctorArgs, DoctorPart, JsonTarget};
use crate::doctor::{self, Circumstances, Privacy, Report};
use crate::failure::Failure;
use crate::json_output::{deliver, to_json};

/// Says what is installed, what is wrong with it, and whether a run would work.
pub(crate) fn doctor(arguments: &DoctorArgs) -> Result<(), Failure> {
    match arguments.part {
        Some(DoctorPart::Adapters) => return doctor::list_for_the_doctor(),
        Some(DoctorPart::Trace) => return doctor::trace_for_the_doctor(arguments),
        None => {}
    }
    doctor::check_backends(&arguments.backends)?;
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let report = Report::make(&mut Circumstances::of_this_machine(arguments));
    let report = Privacy::of_this_user().clean_report(report);
    let target = arguments.json.as_ref();
    deliver(doctor::show(&report, JsonTarget::screen_beside(target)), target, &to_json(&report)?)?;
    if report.trains() { Ok(()) } else { Err(Failure::NothingTrains(report.verdict().to_owned())) }
}
