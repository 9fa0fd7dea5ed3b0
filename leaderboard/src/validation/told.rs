//! Whether a finished record is what was told of it while it was made, and whether its times are those that passed here.

use engine::{Standard, SuiteDefinition};
use results::{Client, Outcome, Phase, RunRecord, Stretch, Warning, WorkloadRecord, measured_sha256};

use super::bounds::{FieldPath, Refusal};
use super::speed_up;
use crate::proof::told::Told;
use crate::proof::{Key, challenge};

/// What is known of the run without its record.
pub(crate) struct Witnessed<'a> {
    pub(crate) key: &'a Key,
    pub(crate) run_id: &'a str,
    pub(crate) suite: &'static SuiteDefinition,
    pub(crate) announced_unix_seconds: f64,
    /// In the order of their workloads and numbers.
    pub(crate) told: &'a [Told],
}

/// What stands between a record and a proof.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Findings {
    /// What was not told, or not accounted for: a bad connection or a closed laptop does that too.
    pub(crate) missing: Vec<String>,
    /// What cannot be so of an honest run.
    pub(crate) contradictions: Vec<String>,
}

/// Two clocks drift apart by far less than this share …
const DRIFT: f64 = 0.01;
/// … and are read, and messages travel, in less than this beyond what the client itself saw.
const SLACK_SECONDS: f64 = 0.25;
/// Reading the clock, keeping a window's figures and showing them: so much of the time …
const UNTIMED_SHARE: f64 = 0.03;
/// … and so much for each window.
const UNTIMED_SECONDS_OF_WINDOW: f64 = 0.02;
/// Before the first workload a page loads its worker, perhaps with Burn; a person waits no longer.
const SECONDS_TO_BEGIN: f64 = 300.0;
/// Between workloads nothing happens but what the timelines name.
const SECONDS_BETWEEN: f64 = 10.0;
/// Loading, building and checking of a workload, at most; also all of one that failed.
const PREPARING_SECONDS: f64 = 900.0;
/// Telling a checkpoint takes as long as reading the weights back, hashing them, and a question with its answer.
const TELLING_SECONDS: f64 = 2.0;
/// Some checkpoints take longer to tell than the one in the middle, by so many times and so much.
const TELLING_SPREAD: (f64, f64) = (3.0, 1.0);
/// Classifying takes no longer than training on as many samples, by so many times and so much …
const TESTING_SPREAD: (f64, f64) = (5.0, 5.0);
/// … and measuring the peak no longer than the windows beside it.
const PEAK_SPREAD: (f64, f64) = (2.0, 30.0);

/// Holds `record` to what was told of it.
///
/// # Errors
/// A record that says otherwise than was told: nobody changes a record by accident.
pub(crate) fn hold(record: &RunRecord, run: &Witnessed<'_>) -> Result<Findings, Refusal> {
    let mut findings = Findings::default();
    let mut courses = Vec::new();
    let path = FieldPath::ROOT;
    let workloads = path.field("workloads");
    let mut failing = 0.0;
    for (i, of) in record.workloads.iter().enumerate() {
        let told: Vec<&Told> = run.told.iter().filter(|told| told.workload == of.workload).collect();
        same_as_told(&workloads.item(i), of, &told)?;
        if of.outcome != Outcome::Completed {
            // No proof is asked of it, but nobody gets around showing weights by saying that it failed.
            if lacks_weights(&told) {
                findings.missing.push(format!("{}: {MISSING_WEIGHTS}", of.workload));
            }
            let all = Interval { stretches: &of.timeline };
            let paused = all.paused();
            failing += (all.seconds() - paused).min(PREPARING_SECONDS) + paused;
            continue;
        }
        let Some(known) = Standard::of(run.suite, &of.workload, record.seed) else { continue };
        match incomplete(run, &known, of, &told) {
            Some(reason) => findings.missing.push(format!("{}: {reason}", of.workload)),
            None => {
                let (client, failing_seconds) = (&record.provenance.client, std::mem::take(&mut failing));
                courses.push(Course { record: of, told, client, failing_seconds });
            }
        }
    }
    if let Some(missing) = unmarked_pause(record) {
        findings.missing.push(missing);
    }
    if !courses.is_empty() && !courses.iter().any(Course::has_shown) {
        findings.missing.push("no weights were seen of any network that came to its end".to_owned());
    }
    courses.sort_by(|a, b| a.begin().total_cmp(&b.begin()));
    let mut before = Before { unix_seconds: run.announced_unix_seconds, named_seconds: 0.0, allowed: SECONDS_TO_BEGIN };
    for course in &courses {
        course.check_times(&before, &mut findings);
        before = course.end();
    }
    Ok(findings)
}

/// Nobody here sees whether a run really waited, so that one that says so must bear the mark that keeps it from being ranked:
/// otherwise seconds of training could be called seconds of waiting. As a part of a sentence.
fn unmarked_pause(record: &RunRecord) -> Option<String> {
    let seconds = record.paused_seconds();
    let marked = record.warnings.iter().any(|warning| matches!(warning, Warning::TabHidden { .. }));
    (seconds > 0.0 && !marked)
        .then(|| format!("it waited for {seconds:.1} s and no warning says that the page was hidden"))
}

/// What the record says of its checkpoints must be what was told.
fn same_as_told(path: &FieldPath<'_>, of: &WorkloadRecord, told: &[&Told]) -> Result<(), Refusal> {
    let checkpoints = path.field("checkpoints");
    for (i, checkpoint) in of.checkpoints.iter().enumerate() {
        let refuse = |message: &str| checkpoints.item(i).refuse("wrong_checkpoint", message);
        let Some(told) = told.get(i) else {
            return refuse("The leaderboard was not told of this checkpoint.");
        };
        let same = told.step == checkpoint.step
            && told.weights_sha256 == checkpoint.weights_sha256
            && told.measured_sha256 == checkpoint.measured_sha256;
        if !same {
            return refuse("The leaderboard was told of another checkpoint.");
        }
        if measured_sha256(of, checkpoint.step) != told.measured_sha256 {
            return refuse("The record says otherwise of the steps until here than was told while it was made.");
        }
    }
    Ok(())
}

/// Why the checkpoints are no proof, as a part of a sentence.
fn incomplete(run: &Witnessed<'_>, known: &Standard, of: &WorkloadRecord, told: &[&Told]) -> Option<String> {
    let (Some(first), Some(last)) = (of.checkpoints.first(), of.checkpoints.last()) else {
        return Some("the leaderboard was not told of its checkpoints while it trained".to_owned());
    };
    let steps: u64 = of.windows.iter().map(|window| u64::from(window.steps)).sum();
    let is_whole = first.step == 0
        && last.step == steps
        && told.len() == of.checkpoints.len()
        && told.last().is_some_and(|told| told.is_last);
    let looks = of.evaluations.iter().map(|look| look.step);
    let told_looks = of.checkpoints[1..].iter().map(|checkpoint| checkpoint.step);
    if !is_whole || !looks.eq(told_looks.take(of.evaluations.len())) || of.checkpoints.len() != of.evaluations.len() + 2
    {
        return Some("the leaderboard was told of some of its checkpoints only".to_owned());
    }
    let proving = of.timeline.iter().filter(|stretch| stretch.phase == Phase::Proving).count();
    if proving != told.len() {
        return Some("its timeline does not name when the checkpoints were told".to_owned());
    }
    let challenged = challenge::is_challenged(run.key, run.run_id, run.suite, known.workload.name);
    let is_missing = lacks_weights(told) || (challenged && !told.iter().any(|told| told.weights_wanted));
    is_missing.then(|| MISSING_WEIGHTS.to_owned())
}

const MISSING_WEIGHTS: &str = "the weights that the leaderboard asked for did not come";

/// Whether weights were asked for that did not come.
fn lacks_weights(told: &[&Told]) -> bool {
    told.iter().any(|told| told.weights_wanted && told.shown_unix_seconds.is_none())
}

/// A workload whose checkpoints were all told.
struct Course<'a> {
    record: &'a WorkloadRecord,
    told: Vec<&'a Told>,
    client: &'a Client,
    /// What workloads that failed took just before.
    failing_seconds: f64,
}

/// Where a workload begins, as far as this server knows.
struct Before {
    unix_seconds: f64,
    /// What the timeline of the workload before says of the time since then.
    named_seconds: f64,
    /// What nothing names may take so long.
    allowed: f64,
}

/// What the timeline says of the time between two checkpoints.
struct Interval<'a> {
    stretches: &'a [Stretch],
}

impl Interval<'_> {
    fn seconds(&self) -> f64 {
        self.stretches.iter().map(|stretch| stretch.seconds).sum()
    }

    fn paused(&self) -> f64 {
        self.of(|phase| phase == Phase::Paused)
    }

    fn of(&self, phase: impl Fn(Phase) -> bool) -> f64 {
        self.stretches.iter().filter(|stretch| phase(stretch.phase)).map(|stretch| stretch.seconds).sum()
    }
}

impl Course<'_> {
    fn has_shown(&self) -> bool {
        self.told.iter().any(|told| told.shown_unix_seconds.is_some())
    }

    fn begin(&self) -> f64 {
        self.told[0].told_unix_seconds
    }

    /// When the server last heard of a checkpoint.
    fn heard(told: &Told) -> f64 {
        told.shown_unix_seconds.unwrap_or(told.told_unix_seconds)
    }

    fn end(&self) -> Before {
        let last = self.told[self.told.len() - 1];
        let after = self.intervals().last().map_or(0.0, Interval::seconds);
        let named_seconds = after + self.telling(self.told.len() - 1);
        Before { unix_seconds: Self::heard(last), named_seconds, allowed: SECONDS_BETWEEN }
    }

    /// What lies before, between and after the checkpoints: one more than there are checkpoints.
    fn intervals(&self) -> Vec<Interval<'_>> {
        let proving = |stretch: &Stretch| stretch.phase == Phase::Proving;
        self.record.timeline.split(proving).map(|stretches| Interval { stretches }).collect()
    }

    /// Seconds that telling checkpoint number `number` took the client, without those in which its weights travelled.
    fn telling(&self, number: usize) -> f64 {
        let proving = self.record.timeline.iter().filter(|stretch| stretch.phase == Phase::Proving).nth(number);
        let travelled = Self::heard(self.told[number]) - self.told[number].told_unix_seconds;
        proving.map_or(0.0, |stretch| (stretch.seconds - travelled).max(0.0))
    }

    fn check_times(&self, before: &Before, findings: &mut Findings) {
        let name = &self.record.workload;
        if let Some(doubt) = speed_up::doubt(self.record, self.client) {
            findings.missing.push(format!("{name}: {doubt}"));
        }
        let intervals = self.intervals();
        let preparing = intervals[0].seconds() + self.failing_seconds;
        let unnamed = self.begin() - before.unix_seconds - before.named_seconds - preparing - self.telling(0);
        if unnamed > before.allowed + DRIFT * preparing
            || intervals[0].seconds() - intervals[0].paused() > PREPARING_SECONDS
        {
            findings.missing.push(format!(
                "{name}: {:.0} s passed before it began to train, {preparing:.0} s of which it accounts for",
                self.begin() - before.unix_seconds
            ));
        }
        self.check_telling(findings);
        for (number, pair) in self.told.windows(2).enumerate() {
            let between = &intervals[number + 1];
            let steps = (pair[0].step, pair[1].step);
            if let Some(contradiction) = self.check_clock(number, pair, between) {
                findings.contradictions.push(format!("{name}, steps {} to {}: {contradiction}", steps.0, steps.1));
            } else if let Some(missing) = self.unaccounted(number, pair, between) {
                findings.missing.push(format!("{name}, steps {} to {}: {missing}", steps.0, steps.1));
            }
        }
    }

    /// Telling is no place to hide work in.
    fn check_telling(&self, findings: &mut Findings) {
        let mut seconds: Vec<f64> = (0..self.told.len()).map(|number| self.telling(number)).collect();
        seconds.sort_by(f64::total_cmp);
        let (middle, longest) = (seconds[seconds.len() / 2], seconds[seconds.len() - 1]);
        let (times, more) = TELLING_SPREAD;
        if middle > TELLING_SECONDS || longest > times * middle + more {
            findings.missing.push(format!(
                "{}: telling the leaderboard of a checkpoint took {longest:.1} s, {middle:.1} s in the middle: that is too \
                 long for its times to be compared",
                self.record.workload
            ));
        }
    }

    /// What cannot be: more time claimed than passed.
    fn check_clock(&self, number: usize, pair: &[&Told], between: &Interval<'_>) -> Option<String> {
        let passed = pair[1].told_unix_seconds - Self::heard(pair[0]);
        let claimed = between.seconds();
        if claimed > passed * (1.0 + DRIFT) + SLACK_SECONDS {
            return Some(format!("the record claims {claimed:.2} s, and {passed:.2} s passed here"));
        }
        let (timed, windows) = (between.of(Phase::is_timed), self.windows(number).0);
        // A window lies within its phase, and both are read from one clock.
        (windows > timed + 1e-3 * (1.0 + timed))
            .then(|| format!("windows of {windows:.2} s lie in phases of {timed:.2} s"))
    }

    /// What was not accounted for, as a part of a sentence.
    fn unaccounted(&self, number: usize, pair: &[&Told], between: &Interval<'_>) -> Option<String> {
        let passed = pair[1].told_unix_seconds - Self::heard(pair[0]);
        let claimed = between.seconds();
        let telling = self.telling(number) + self.telling(number + 1);
        if passed > (claimed + telling) * (1.0 + DRIFT) + SLACK_SECONDS {
            return Some(format!("{passed:.2} s passed here, and the record accounts for {:.2} s", claimed + telling));
        }
        let (windows, count, samples) = self.windows(number);
        let timed = between.of(Phase::is_timed);
        let allowed = SLACK_SECONDS + UNTIMED_SHARE * timed + UNTIMED_SECONDS_OF_WINDOW * count as f64;
        if timed - windows > allowed {
            return Some(format!("it trained for {timed:.2} s, and its windows account for {windows:.2} s"));
        }
        let seconds_of_sample = windows / (samples.max(1) as f64);
        let testing = between.of(|phase| phase == Phase::Testing);
        // Some recipes look at as many held-out samples as well.
        let tested = 2.0 * f64::from(self.record.settings.test_samples);
        if testing > TESTING_SPREAD.0 * seconds_of_sample * tested + TESTING_SPREAD.1 {
            return Some(format!("testing took {testing:.2} s, far longer than training on as many samples"));
        }
        let peak = between.of(|phase| phase == Phase::MeasuringPeak);
        (peak > PEAK_SPREAD.0 * windows + PEAK_SPREAD.1)
            .then(|| format!("measuring the peak took {peak:.2} s, far longer than the windows beside it"))
    }

    /// Seconds, number and samples of the windows between checkpoint number `number` and the next.
    fn windows(&self, number: usize) -> (f64, usize, u64) {
        let (from, to) = (self.told[number].step, self.told[number + 1].step);
        let mut step = 0;
        let inside = self.record.windows.iter().filter(|window| {
            step += u64::from(window.steps);
            from < step && step <= to
        });
        inside.fold((0.0, 0, 0), |(seconds, count, samples), window| {
            (seconds + window.seconds, count + 1, samples + window.samples)
        })
    }
}
