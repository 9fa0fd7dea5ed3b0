//! What a run's events add up to while it runs.

use std::sync::Arc;

use engine::{Event, Phase};
use results::{Adapter, CurvePoint, Evaluation, Warning};
use training_worker::Loaded;

use crate::bundle::{Arrival, ArrivalState};
use crate::examples::Examples;
use crate::published::{self, PublishedLearning};
use crate::t;

/// Share of the progress bar that fetching the data fills; the engine counts the rest.
const DATA_SHARE: f64 = 0.05;
/// Share of another bundle than the page's own, where one is fetched.
const BUNDLE_SHARE: f64 = 0.05;
/// Points kept for drawing. When there are more, every other one is left out.
const MAXIMUM_POINTS: usize = 600;

/// Before this share of a run is done nobody knows how long the rest will take.
const TELLING_FRACTION: f64 = 0.1;

/// Leaves every other point out where there are too many.
fn thin<T>(points: &mut Vec<T>) {
    if points.len() > MAXIMUM_POINTS {
        let mut even = false;
        points.retain(|_| {
            even = !even;
            even
        });
    }
}

/// A run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub adapter: Option<Adapter>,
    pub phase: Option<Phase>,
    pub warnings: Vec<Warning>,
    /// The workload that is running.
    pub workload: Option<LiveWorkload>,
    /// Another bundle than the page's own, where the run needs one.
    pub bundle: Option<Arrival>,
    data_fraction: f64,
    run_fraction: f64,
    finished: bool,
}

/// A workload so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveWorkload {
    pub name: String,
    /// From 0, of `count`.
    pub index: u32,
    pub count: u32,
    pub target_accuracy: f64,
    pub batch_size: u32,
    pub step: u64,
    /// Passes over the training set.
    pub epochs: f64,
    pub samples_per_second: Option<f64>,
    pub training: Vec<CurvePoint>,
    pub tests: Vec<Evaluation>,
    /// Seconds of training and samples per second, window by window.
    pub rates: Vec<(f64, f64)>,
    /// A few test images, where they are shown.
    pub examples: Option<Arc<Examples>>,
    /// The class that the network gives each of them now.
    pub answers: Vec<u16>,
}

/// What was published of the network that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub learning: &'static PublishedLearning,
    /// Over seconds of training.
    pub curve: Vec<(f64, f64)>,
}

impl LiveWorkload {
    /// What the network is called.
    pub fn title(&self) -> String {
        crate::text::workload_title(&self.name)
    }

    /// What was published of it, and where its curve lies now.
    pub fn published(&self) -> Option<Beside> {
        let learning = published::learning(&self.name, self.batch_size)?;
        let seconds = self.training.last().map_or(0.0, |point| point.training_seconds);
        Some(Beside { curve: learning.curve_beside(seconds, self.epochs), learning })
    }

    /// Mean loss of the latest window.
    pub fn loss(&self) -> Option<f64> {
        self.training.last().map(|point| point.loss)
    }

    pub fn training_accuracy(&self) -> Option<f64> {
        self.training.last().map(|point| point.accuracy)
    }

    pub fn test_accuracy(&self) -> Option<f64> {
        self.tests.last().map(|test| test.accuracy)
    }
}

impl Live {
    /// A run that begins by loading a bundle, if any.
    pub fn new(bundle: Option<Arrival>) -> Self {
        Self { bundle, ..Self::default() }
    }

    /// Share of the whole that is done, 0 to 1; it never falls.
    pub fn fraction(&self) -> f64 {
        if self.finished {
            return 1.0;
        }
        let rest = DATA_SHARE * self.data_fraction + (1.0 - DATA_SHARE) * self.run_fraction;
        self.bundle.map_or(rest, |bundle| BUNDLE_SHARE * bundle.fraction() + (1.0 - BUNDLE_SHARE) * rest)
    }

    /// This many bytes of the bundle's module are here.
    pub fn arriving(&mut self, bytes: u64) {
        if let Some(Arrival { state: ArrivalState::Coming { bytes: known, .. }, .. }) = &mut self.bundle {
            *known = bytes.max(*known);
        }
    }

    /// The bundle is here and runs.
    pub fn loaded(&mut self, loaded: Loaded) {
        self.bundle = self.bundle.map(|bundle| Arrival { state: ArrivalState::Started(loaded), ..bundle });
    }

    /// A data file is on its way.
    pub fn loading(&mut self, loaded_bytes: u64, total_bytes: u64) {
        let fraction = loaded_bytes as f64 / total_bytes.max(1) as f64;
        self.data_fraction = self.data_fraction.max(fraction.min(1.0));
    }

    /// The run came to its end.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Takes in what the engine announced.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted { adapter, .. } => self.adapter = Some(adapter.clone()),
            Event::WorkloadStarted { workload, index, count, batch_size, target_accuracy, .. } => {
                self.workload = Some(LiveWorkload {
                    name: workload.clone(),
                    index: *index,
                    count: *count,
                    target_accuracy: *target_accuracy,
                    batch_size: *batch_size,
                    ..LiveWorkload::default()
                });
            }
            Event::PhaseStarted { phase, .. } => self.phase = Some(*phase),
            Event::Progress { run_fraction, .. } => {
                // Whatever trains has its data, wherever the browser found it.
                self.data_fraction = 1.0;
                self.run_fraction = self.run_fraction.max(*run_fraction);
                self.progress(event);
            }
            Event::Evaluated { evaluation, .. } => {
                if let Some(workload) = &mut self.workload {
                    workload.tests.push(*evaluation);
                }
            }
            Event::Examples { workload, height, width, channels, images, labels } => {
                let examples = Examples::new(workload, [*height, *width, *channels], images, labels);
                if let Some(workload) = &mut self.workload {
                    workload.examples = Some(Arc::new(examples));
                }
            }
            Event::Answered { answers, .. } => {
                if let Some(workload) = &mut self.workload {
                    workload.answers.clone_from(answers);
                }
            }
            Event::Warned { warning } => self.warnings.push(warning.clone()),
            Event::WorkloadFailed { .. } | Event::WorkloadFinished { .. } => {}
        }
    }

    fn progress(&mut self, event: &Event) {
        let (
            Some(workload),
            &Event::Progress { step, epochs, training_seconds, loss, training_accuracy, samples_per_second, .. },
        ) = (&mut self.workload, event)
        else {
            return;
        };
        workload.step = step;
        workload.epochs = epochs;
        workload.samples_per_second = Some(samples_per_second);
        workload.training.push(CurvePoint { step, training_seconds, loss, accuracy: training_accuracy });
        workload.rates.push((training_seconds, samples_per_second));
        thin(&mut workload.training);
        thin(&mut workload.rates);
    }

    /// About how many seconds a run will still take that has taken so many; nothing before that can be told.
    pub fn seconds_left(&self, seconds_so_far: f64) -> Option<f64> {
        let fraction = self.fraction();
        (TELLING_FRACTION..1.0).contains(&fraction).then(|| seconds_so_far * (1.0 - fraction) / fraction)
    }

    /// Where the run is, for the status region: changes with the phase only, so that it is not read out all the time.
    pub fn status(&self) -> String {
        let Some(workload) = &self.workload else {
            return match self.bundle.filter(|bundle| bundle.is_coming()) {
                Some(bundle) => t!(running_loading, what = bundle.of),
                None => t!(running_starting_worker).to_owned(),
            };
        };
        let phase = self.phase.map_or(t!(running_phase_starting), phase);
        // The network's own name stands right below, in the heading.
        t!(running_status, number = workload.index + 1, count = workload.count, phase = phase)
    }
}

/// A phase in few words.
fn phase(of: Phase) -> &'static str {
    match of {
        Phase::LoadingData => t!(running_phase_loading),
        Phase::Building => t!(running_phase_building),
        Phase::Checking => t!(running_phase_checking),
        Phase::WarmingUp => t!(running_phase_warming_up),
        Phase::Training => t!(running_phase_training),
        Phase::Testing => t!(running_phase_testing),
        Phase::Measuring | Phase::MeasuringPeak => t!(running_phase_measuring),
        Phase::Proving => t!(running_phase_proving),
        Phase::Paused => t!(running_phase_paused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> Live {
        let mut live = Live::default();
        live.event(&Event::WorkloadStarted {
            workload: "caffe-mnist".to_owned(),
            index: 1,
            count: 2,
            batch_size: 64,
            steps_per_epoch: 938,
            target_accuracy: 0.98,
        });
        live
    }

    fn progress(step: u64, run_fraction: f64) -> Event {
        Event::Progress {
            workload: "caffe-mnist".to_owned(),
            run_fraction,
            step,
            epochs: step as f64 / 938.0,
            training_seconds: step as f64,
            loss: 2.3 - step as f64 / 1000.0,
            training_accuracy: 0.1,
            samples_per_second: 64.0,
        }
    }

    #[test]
    fn the_progress_bar_never_falls_and_ends_full() {
        let mut live = started();
        let mut last = 0.0;
        let mut check = |live: &Live| {
            assert!(live.fraction() >= last, "{} after {last}", live.fraction());
            last = live.fraction();
        };
        live.loading(50, 100);
        check(&live);
        live.loading(100, 100);
        check(&live);
        live.event(&progress(1, 0.0));
        check(&live);
        live.event(&progress(9, 0.6));
        check(&live);
        live.event(&progress(10, 0.5));
        check(&live);
        live.finish();
        check(&live);
        assert_eq!(live.fraction(), 1.0);
    }

    #[test]
    fn the_second_bundle_has_its_part_of_the_progress_bar() {
        let mut live = Live::new(Some(Arrival::begin("Burn", 1000)));
        assert_eq!((live.status().as_str(), live.fraction()), ("Loading Burn", 0.0));
        live.arriving(500);
        assert_eq!(live.fraction(), BUNDLE_SHARE / 2.0);
        live.arriving(400);
        assert_eq!(live.fraction(), BUNDLE_SHARE / 2.0, "it never falls");
        live.loaded(Loaded { compressed_bytes: None, bytes: 1000, cached: None, seconds: 1.0 });
        assert_eq!((live.status().as_str(), live.fraction()), ("Starting the training worker", BUNDLE_SHARE));
        live.loading(1, 1);
        live.event(&progress(1, 1.0));
        assert!((live.fraction() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn data_that_the_browser_had_already_counts_as_loaded() {
        let mut live = started();
        live.event(&progress(1, 0.0));
        assert_eq!(live.fraction(), DATA_SHARE);
    }

    #[test]
    fn the_status_tells_how_far_the_run_is_and_changes_with_the_phase_only() {
        let mut live = started();
        live.event(&Event::PhaseStarted { workload: "caffe-mnist".to_owned(), phase: Phase::Training });
        assert_eq!(live.status(), "Network 2 of 2: training");
        live.event(&progress(1, 0.5));
        assert_eq!(live.status(), "Network 2 of 2: training");
        assert_eq!(live.workload.unwrap().title(), "MNIST, LeNet (Caffe)");
    }

    #[test]
    fn the_time_that_is_left_is_told_when_it_can_be() {
        let mut live = started();
        assert_eq!(live.seconds_left(30.0), None, "nothing is done yet");
        live.event(&progress(1, 0.5));
        let fraction = live.fraction();
        let left = live.seconds_left(30.0).unwrap();
        assert!((left - 30.0 * (1.0 - fraction) / fraction).abs() < 1e-9, "{left}");
        live.finish();
        assert_eq!(live.seconds_left(60.0), None);
    }

    #[test]
    fn a_long_run_is_thinned_and_keeps_its_ends() {
        let mut live = started();
        for step in 0..2000 {
            live.event(&progress(step, 0.0));
        }
        let workload = live.workload.unwrap();
        assert!(workload.training.len() <= MAXIMUM_POINTS && workload.rates.len() <= MAXIMUM_POINTS);
        assert_eq!(workload.training[0].step, 0);
        assert!(workload.training.windows(2).all(|pair| pair[0].step < pair[1].step));
        assert_eq!(workload.step, 1999);
        assert_eq!(workload.training.last().unwrap().step, 1999);
    }
}
