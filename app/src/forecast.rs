//! Prediction of a run's remaining time, from the last run on this device or else from the first throughput.

use std::collections::BTreeMap;

use engine::{Event, Phase};
use serde::{Deserialize, Serialize};

/// Setup time assumed until one network has finished, in seconds: building, checking and warming up.
const SETUP_SECONDS: f64 = 4.0;
/// Time of an evaluation relative to training on the same number of samples: one forward pass instead of three passes.
const TEST_SHARE: f64 = 1.0 / 3.0;
/// Time of the proof relative to training, and its minimum in seconds.
const PROOF_SHARE: f64 = 0.12;
const PROOF_SECONDS: f64 = 2.0;
/// Seconds of training before its progress predicts anything: the first steps belong to the warm-up.
const MIN_TRAINING_SECONDS: f64 = 4.0;
/// Share of a part that counts as remaining when it takes longer than predicted.
const OVERTIME_SHARE: f64 = 0.05;

/// Seconds that each part of a network takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parts {
    /// Building, checking and warming up.
    pub setup: f64,
    pub training: f64,
    pub testing: f64,
    pub proving: f64,
}

impl Parts {
    pub fn total(&self) -> f64 {
        self.setup + self.training + self.testing + self.proving
    }

    /// Adds the time of a phase to its part. Loading and pausing belong to no part.
    pub fn add(&mut self, phase: Phase, seconds: f64) {
        match phase {
            Phase::LoadingData | Phase::Paused => {}
            Phase::Building | Phase::Checking | Phase::WarmingUp => self.setup += seconds,
            Phase::Training | Phase::Writing | Phase::Measuring | Phase::MeasuringPeak => self.training += seconds,
            Phase::Testing => self.testing += seconds,
            Phase::Proving => self.proving += seconds,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForecastLimits {
    pub seconds: f64,
    pub epochs: f64,
    pub steps: f64,
}

impl ForecastLimits {
    pub const NONE: Self = Self { seconds: f64::INFINITY, epochs: f64::INFINITY, steps: f64::INFINITY };
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    limits: ForecastLimits,
    /// Parts of each network in the last run.
    known: BTreeMap<String, Parts>,
    networks: Vec<String>,
    current: usize,
    spent: Parts,
    last: Option<Parts>,
    pub phase: Option<(Phase, f64)>,
    /// Index of the network measured last, and its samples per second.
    measured: Option<(usize, f64)>,
    /// Downloaded share of the data that the current network needs, while it downloads.
    pub loaded: Option<f64>,
    /// Completed share of the current network's training.
    share: Option<f64>,
    /// Completed share of the run, as the engine counts it.
    run_fraction: f64,
    now: f64,
    /// Seconds left, once predicted: the lowest prediction so far, because the rounded time would jump.
    pub seconds_left: Option<f64>,
}

impl Forecast {
    pub fn new(networks: Vec<String>, limits: ForecastLimits, known: BTreeMap<String, Parts>) -> Self {
        Self { networks, limits, known, ..Self::default() }
    }

    /// Sets the time since the start of the run, excluding the time that the page was hidden.
    pub fn tick(&mut self, now: f64) {
        self.now = now;
        let remaining = self.remaining();
        if self.measured.is_some() || self.known.len() >= self.networks.len() {
            self.seconds_left = Some(self.seconds_left.map_or(remaining, |lowest| lowest.min(remaining)));
        }
    }

    /// Returns the completed share of the run: of its time, or of its steps as long as their rate is unknown.
    pub fn fraction(&self) -> f64 {
        let remaining = self.remaining();
        if remaining.is_finite() { self.now / (self.now + remaining).max(f64::MIN_POSITIVE) } else { self.run_fraction }
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted { workloads, .. } => self.networks.clone_from(workloads),
            Event::WorkloadStarted { index, .. } => {
                self.end_phase();
                if self.current < *index as usize {
                    self.last = Some(self.spent);
                }
                (self.current, self.spent, self.share) = (*index as usize, Parts::default(), None);
            }
            Event::PhaseStarted { phase, .. } => {
                self.end_phase();
                self.phase = Some((*phase, self.now));
                self.loaded = None;
            }
            Event::Progress { run_fraction, samples_per_second, .. } => {
                self.run_fraction = *run_fraction;
                if self.spent_now().training >= MIN_TRAINING_SECONDS {
                    let share = run_fraction * self.networks.len() as f64 - self.current as f64;
                    self.share = Some(share.clamp(0.0, 1.0));
                    self.measured = Some((self.current, *samples_per_second));
                }
            }
            _ => {}
        }
    }

    fn end_phase(&mut self) {
        if let Some((phase, began)) = self.phase.take() {
            self.spent.add(phase, self.now - began);
        }
    }

    /// Returns the seconds that each part of the current network has taken so far.
    fn spent_now(&self) -> Parts {
        let mut spent = self.spent;
        if let Some((phase, began)) = self.phase {
            spent.add(phase, self.now - began);
        }
        spent
    }

    fn remaining(&self) -> f64 {
        let after = (self.current + 1..self.networks.len()).map(|place| self.predict(place).total());
        let began = self.phase.map_or(0.0, |(_, began)| began);
        let share = self.loaded.filter(|share| *share > 0.0 && *share < 1.0);
        let download = share.map_or(0.0, |share| (self.now - began) * (1.0 - share) / share);
        download + self.remaining_of_current() + after.sum::<f64>()
    }

    fn remaining_of_current(&self) -> f64 {
        let (expected, spent) = (self.predict(self.current), self.spent_now());
        let phase = self.phase.map(|(phase, _)| phase);
        let left = |expected: f64, spent: f64, is_now: bool| {
            (expected - spent).max(if is_now { expected.max(spent) * OVERTIME_SHARE } else { 0.0 })
        };
        let is_past_setup = self.share.is_some() || spent.training > 0.0;
        let setup = if is_past_setup { 0.0 } else { left(expected.setup, spent.setup, true) };
        let is_known = self.networks.get(self.current).is_some_and(|name| self.known.contains_key(name));
        let training = match self.share.filter(|share| *share > 0.0 && !is_known) {
            Some(share) => spent.training * (1.0 - share) / share,
            None => left(expected.training, spent.training, phase == Some(Phase::Training) || !is_past_setup),
        };
        let testing = left(expected.testing, spent.testing, phase == Some(Phase::Testing));
        let proving = left(expected.proving, spent.proving, phase == Some(Phase::Proving));
        setup + training + testing + proving
    }

    fn predict(&self, place: usize) -> Parts {
        let name = self.networks.get(place).map_or("", String::as_str);
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let samples = |workload: engine::Workload| {
            let file_samples = engine::data_set(workload.data_set)?.train.samples;
            let batches = workload.batches(file_samples, workload.batch_size).ok()?;
            Some([batches.samples, workload.test_samples(), workload.batch_size])
        };
        let [samples, test_samples, batch] =
            engine::workload(name).and_then(samples).unwrap_or_default().map(f64::from);
        let rate = self.rate(place);
        let ForecastLimits { seconds, epochs, steps } = self.limits;
        let training = rate.map_or(seconds, |rate| seconds.min(epochs * samples / rate).min(steps * batch / rate));
        let epoch_seconds = rate.map(|rate| samples / rate);
        let tests = epoch_seconds.map_or(1.0, |of| (training / of).round().max(1.0));
        let test = rate.map_or(0.0, |rate| TEST_SHARE * test_samples / rate);
        Parts {
            setup: self.last.map_or(SETUP_SECONDS, |last| last.setup),
            training,
            testing: tests * test,
            proving: (PROOF_SHARE * training).max(PROOF_SECONDS),
        }
    }

    /// Estimates the throughput of a network from the one measured last, scaled by their FLOPs per sample.
    fn rate(&self, place: usize) -> Option<f64> {
        let (measured, rate) = self.measured?;
        let flops = |place: usize| {
            let network = engine::workload(self.networks.get(place)?)?;
            Some(network.model.operations().ok()?.training_flops() as f64)
        };
        let rate = if place == measured { rate } else { rate * flops(measured)? / flops(place)? };
        (rate > 0.0).then_some(rate)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    const NETWORKS: [&str; 2] = ["keras-mnist-mlp", "caffe-mnist"];

    fn forecast(known: BTreeMap<String, Parts>) -> Forecast {
        let networks = NETWORKS.map(str::to_owned).to_vec();
        Forecast::new(networks, ForecastLimits { seconds: 30.0, epochs: 2.0, ..ForecastLimits::NONE }, known)
    }

    pub(crate) fn started(workload: &str, index: u32) -> Event {
        let event = json!({
            "workload": workload, "index": index, "count": 2, "batch_size": 64, "steps_per_epoch": 938,
            "target": { "accuracy": 0.98 },
        });
        serde_json::from_value(json!({ "WorkloadStarted": event })).unwrap()
    }

    pub(crate) fn progress(step: u64, run_fraction: f64) -> Event {
        let seconds = step as f64;
        let event = json!({
            "workload": "caffe-mnist", "run_fraction": run_fraction, "step": step, "epochs": seconds / 938.0,
            "training_seconds": seconds, "loss": 2.3 - seconds / 1000.0, "training_accuracy": 0.1,
            "samples_per_second": 100.0,
        });
        serde_json::from_value(json!({ "Progress": event })).unwrap()
    }

    fn phase(forecast: &mut Forecast, phase: Phase) {
        forecast.event(&Event::PhaseStarted { workload: String::new(), phase });
    }

    #[test]
    fn predicts_second_run_from_first() {
        let parts = Parts { setup: 2.0, training: 30.0, testing: 20.0, proving: 8.0 };
        let mut forecast = forecast(NETWORKS.map(|name| (name.to_owned(), parts)).into());
        forecast.tick(0.0);
        assert_eq!(forecast.seconds_left, Some(120.0));
        forecast.event(&started(NETWORKS[0], 0));
        phase(&mut forecast, Phase::Building);
        forecast.tick(2.0);
        phase(&mut forecast, Phase::Training);
        forecast.tick(17.0);
        forecast.event(&progress(1, 0.25));
        forecast.tick(17.0);
        assert_eq!(forecast.seconds_left, Some(15.0 + 28.0 + 60.0));
        assert!((forecast.fraction() - 17.0 / 120.0).abs() < 1e-9);
    }

    #[test]
    fn predicts_first_run_from_its_throughput() {
        let mut forecast = forecast(BTreeMap::new());
        forecast.event(&started(NETWORKS[0], 0));
        phase(&mut forecast, Phase::Training);
        forecast.tick(2.0);
        forecast.event(&progress(1, 0.1));
        forecast.tick(5.0);
        assert_eq!(forecast.seconds_left, None, "two seconds of training predict nothing");
        forecast.event(&progress(1, 0.05));
        forecast.tick(5.0);
        let left = forecast.seconds_left.unwrap();
        // 25 s of training, a test of 10,000 samples in a third of 100 s, the proof, and the next network.
        assert!(left > 25.0 + 33.0 + 30.0 && left < 300.0, "{left}");
    }

    #[test]
    fn epoch_of_a_text_has_the_windows_that_it_draws() {
        let limits = ForecastLimits { seconds: 600.0, epochs: 10.0, ..ForecastLimits::NONE };
        let mut forecast = Forecast::new(vec!["gpt-nano".to_owned()], limits, BTreeMap::new());
        forecast.measured = Some((0, 1000.0));
        let parts = forecast.predict(0);
        assert!((parts.training - 10.0 * 200.0 * 12.0 / 1000.0).abs() < 1e-9, "{parts:?}");
        // Ten tests of 1,859 windows of 64 characters, three times as fast as training.
        assert!((parts.testing - 10.0 * 1859.0 / 3000.0).abs() < 0.1, "{parts:?}");
        forecast.measured = None;
        assert_eq!(forecast.predict(0).training, 600.0);
    }

    #[test]
    fn progress_follows_steps_before_their_rate_is_known() {
        let limits = ForecastLimits { steps: 2000.0, ..ForecastLimits::NONE };
        let mut forecast = Forecast::new(vec!["gpt-nano".to_owned()], limits, BTreeMap::new());
        forecast.tick(20.0);
        assert!(forecast.fraction().abs() < 1e-9);
        forecast.event(&progress(20, 0.01));
        assert!((forecast.fraction() - 0.01).abs() < 1e-9);
        forecast.measured = Some((0, 100.0));
        assert!((forecast.predict(0).training - 240.0).abs() < 1e-9, "2,000 batches of 12 at 100 samples per second");
    }

    #[test]
    fn progress_follows_a_slow_download() {
        let mut forecast = forecast(BTreeMap::new());
        forecast.event(&started(NETWORKS[0], 0));
        phase(&mut forecast, Phase::LoadingData);
        let before = forecast.remaining();
        forecast.loaded = Some(0.25);
        forecast.tick(50.0);
        assert!((forecast.remaining() - before - 150.0).abs() < 1e-9, "three quarters take three times as long");
        phase(&mut forecast, Phase::Building);
        assert!((forecast.remaining() - before).abs() < 1e-9);
    }

    #[test]
    fn predicted_time_never_rises() {
        let mut forecast = forecast(BTreeMap::new());
        forecast.event(&started(NETWORKS[0], 0));
        phase(&mut forecast, Phase::Training);
        forecast.tick(10.0);
        forecast.event(&progress(1, 0.25));
        forecast.tick(10.0);
        let before = forecast.seconds_left;
        forecast.event(&progress(1, 0.01));
        forecast.tick(10.25);
        assert!(before.is_some() && forecast.remaining() > before.unwrap_or_default());
        assert_eq!(forecast.seconds_left, before);
    }
}
