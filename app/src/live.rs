//! State of a run in progress, computed from its events, with a few test images and predictions.

use std::cmp::Ordering;
use std::sync::Arc;

use engine::{Event, Phase};
use results::{CurvePoint, Evaluation, Goal, Outcome};

use crate::forecast::Forecast;
use crate::published::{self, PublishedLearning};
use crate::supplies::Arrival;
use crate::{t, text};

/// Maximum number of points kept for drawing. Beyond it, every other point is dropped.
const MAX_POINTS: usize = 600;
/// Number of texts that are shown, with the older ones above the newest.
const MAX_TEXTS: usize = 4;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// True once the engine has opened the device.
    pub is_started: bool,
    pub workload: Option<LiveWorkload>,
    /// Finished networks that showed answers.
    trained: Vec<TrainedNetwork>,
    /// Finished language models.
    writers: Vec<TrainedWriter>,
    /// Bundle other than the page's own.
    pub bundle: Option<Arrival>,
    /// Names of the networks before this one, and their samples per second.
    rates: Vec<(String, f64)>,
    pub forecast: Forecast,
    /// Completed share of the run, 0 to 1. Never falls.
    pub fraction: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveWorkload {
    pub name: String,
    /// From 0, of `count`.
    pub index: u32,
    pub count: u32,
    pub target: Option<Goal>,
    pub batch_size: u32,
    pub step: u64,
    pub epochs: f64,
    pub samples_per_second: Option<f64>,
    pub training: Vec<CurvePoint>,
    pub tests: Vec<Evaluation>,
    pub examples: Option<Arc<Examples>>,
    /// Current prediction for each of them.
    pub answers: Vec<u16>,
    /// Latest texts of a language model.
    pub texts: Vec<LiveText>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveText {
    /// From 0.
    pub number: usize,
    /// Without the prompt.
    pub text: String,
}

/// A trained language model that can continue texts.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedWriter {
    pub workload: String,
    /// On the test set, at the end.
    loss: f64,
    /// The last text that it wrote during training, without the prompt.
    pub text: String,
}

/// A trained network that can classify images like its examples.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedNetwork {
    pub workload: String,
    pub examples: Arc<Examples>,
    /// On the test set, at the end.
    accuracy: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub learning: &'static PublishedLearning,
    pub curve: Vec<(f64, f64)>,
}

impl LiveWorkload {
    /// True if the network reads a text, whose loss is shown in bits per character.
    pub fn reads_text(&self) -> bool {
        engine::workload(&self.name).is_some_and(|workload| workload.reads_text())
    }

    /// Published learning curve of the network, on this run's time axis.
    pub fn published(&self) -> Option<Beside> {
        let learning = published::learning(&self.name, self.batch_size)?;
        let seconds = self.training.last().map_or(0.0, |point| point.training_seconds);
        Some(Beside { curve: learning.curve_beside(seconds, self.epochs), learning })
    }

    fn event(&mut self, event: &Event) {
        match event {
            &Event::Progress {
                step, epochs, training_seconds, loss, training_accuracy, samples_per_second, ..
            } => {
                self.step = step;
                self.epochs = epochs;
                self.samples_per_second = Some(samples_per_second);
                self.training.push(CurvePoint { step, training_seconds, loss, accuracy: training_accuracy });
                if self.training.len() > MAX_POINTS {
                    self.training = self.training.iter().step_by(2).copied().collect();
                }
            }
            Event::Evaluated { evaluation, .. } => self.tests.push(*evaluation),
            Event::Examples { workload, height, width, channels, images, labels } => {
                let examples = Examples::new(workload, [*height, *width, *channels], images, labels);
                self.examples = Some(Arc::new(examples));
            }
            Event::Answered { answers, .. } => self.answers.clone_from(answers),
            Event::Wrote { text, .. } => {
                let number = self.texts.last().map_or(0, |last| last.number + 1);
                self.texts.push(LiveText { number, text: text.clone() });
                self.texts.drain(..self.texts.len().saturating_sub(MAX_TEXTS));
            }
            _ => {}
        }
    }
}

impl Live {
    /// Score of the networks that have a rate, in GFLOP/s.
    pub fn score_so_far(&self) -> Option<f64> {
        let present = self.workload.as_ref().and_then(|of| Some((of.name.as_str(), of.samples_per_second?)));
        let before = self.rates.iter().map(|(name, rate)| (name.as_str(), *rate));
        engine::mean_arithmetic(before.chain(present))
    }

    pub fn new(bundle: Option<Arrival>, forecast: Forecast) -> Self {
        Self { bundle, forecast, ..Self::default() }
    }

    /// Sets the seconds since the start of the run, without those while the page was hidden.
    pub fn tick(&mut self, seconds: f64) {
        self.forecast.tick(seconds);
        self.fraction = self.fraction.max(self.forecast.fraction());
    }

    pub fn event(&mut self, event: &Event) {
        self.forecast.event(event);
        match event {
            Event::RunStarted { .. } => self.is_started = true,
            &Event::WorkloadStarted { ref workload, index, count, batch_size, target, .. } => {
                let (name, target) = (workload.clone(), Some(target));
                let of = LiveWorkload { name, index, count, target, batch_size, ..LiveWorkload::default() };
                self.workload = Some(of);
            }
            Event::WorkloadFinished { record } => {
                self.rates.extend(record.summary.samples_per_second.map(|rate| (record.workload.clone(), rate)));
                if let Some(workload) = &mut self.workload {
                    // The finished network counts with its final rate.
                    workload.samples_per_second = None;
                }
                if let (Outcome::Completed, Some(live)) = (&record.outcome, &self.workload) {
                    let (workload, last) = (record.workload.clone(), record.evaluations.last());
                    let accuracy = last.map_or(0.0, |evaluation| evaluation.accuracy);
                    let loss = last.map_or(f64::INFINITY, |evaluation| evaluation.loss);
                    if let Some(LiveText { text, .. }) = live.texts.last().cloned() {
                        self.writers.push(TrainedWriter { workload, loss, text });
                    } else if let Some(examples) = live.examples.clone() {
                        self.trained.push(TrainedNetwork { workload, examples, accuracy });
                    }
                }
            }
            _ => {}
        }
        if let Some(workload) = &mut self.workload {
            workload.event(event);
        }
    }

    /// The most accurate network for digits, or else for other images.
    pub fn best_network(&self) -> Option<&TrainedNetwork> {
        let rank = |network: &TrainedNetwork| (network.examples.are_digits(), network.accuracy);
        self.trained.iter().max_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal))
    }

    /// The language model with the lowest loss.
    pub fn best_writer(&self) -> Option<&TrainedWriter> {
        self.writers.iter().min_by(|a, b| a.loss.total_cmp(&b.loss))
    }

    /// Text of the status region. It only changes with the phase, so that screen readers do not repeat it.
    pub fn status(&self) -> String {
        let Some(workload) = &self.workload else {
            return match self.bundle.filter(|bundle| bundle.loaded.is_none()) {
                Some(bundle) => t!(running_loading, what = bundle.of),
                None => t!(running_getting_ready).to_owned(),
            };
        };
        let phase = phase(self.forecast.phase.map_or(Phase::LoadingData, |(phase, _)| phase), &workload.name);
        // The heading below already names the network.
        t!(running_status, number = text::count(workload.index + 1), count = text::count(workload.count), phase)
    }
}

fn phase(of: Phase, workload: &str) -> String {
    let words = match of {
        Phase::LoadingData => t!(running_phase_loading),
        Phase::Building => t!(running_phase_building),
        Phase::Checking => t!(running_phase_checking),
        Phase::WarmingUp => t!(running_phase_warming_up),
        // Texts interrupt the training for an instant, every few seconds.
        Phase::Training | Phase::Writing => t!(chart_training),
        Phase::Testing => {
            let samples = engine::workload(workload).map_or(0, |of| of.test_samples());
            return t!(running_phase_testing, samples = text::count(samples));
        }
        Phase::Measuring | Phase::MeasuringPeak => t!(running_phase_measuring),
        Phase::Proving => t!(running_phase_proving),
        Phase::Paused => t!(running_phase_paused),
    };
    words.to_owned()
}

const HEADERS: u32 = 14 + 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examples {
    data_set: &'static str,
    width: u32,
    channels: usize,
    /// Pixels and label of each image.
    images: Vec<(Vec<u8>, u16)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Prediction of the network, as short as possible.
    pub answer: String,
    pub is_right: bool,
    pub words: String,
}

impl Examples {
    /// `shape` is height, width, channels; `images` are bytes in row-major order, image after image.
    pub fn new(workload: &str, shape: [u32; 3], images: &[u8], labels: &[u16]) -> Self {
        let [height, width, channels] = shape;
        let features = (height * width * channels).max(1) as usize;
        let images = images.chunks_exact(features).zip(labels);
        let images = images.map(|(pixels, &label)| (pixels.to_vec(), label)).collect();
        let data_set = engine::workload(workload).map_or("", |workload| workload.data_set);
        Self { data_set, width, channels: channels as usize, images }
    }

    pub fn bitmaps(&self) -> impl Iterator<Item = Vec<u8>> {
        self.images.iter().map(|(pixels, _)| bitmap(self.width, self.channels, pixels))
    }

    pub fn pixels(&self, place: usize) -> Option<&[u8]> {
        self.images.get(place).map(|(pixels, _)| pixels.as_slice())
    }

    pub fn labels(&self) -> impl Iterator<Item = String> {
        self.images.iter().map(|(_, label)| self.class(*label))
    }

    pub fn class(&self, number: u16) -> String {
        let names = if self.data_set == "cifar10" { t!(class_cifar10) } else { "" };
        let name = names.split(", ").nth(number.into()).filter(|name| !name.is_empty());
        name.map_or_else(|| number.to_string(), str::to_owned)
    }

    /// True if a drawing can be classified with them.
    pub fn are_digits(&self) -> bool {
        self.data_set == "mnist"
    }

    pub fn answered(&self, answers: &[u16]) -> Vec<Option<Example>> {
        let example = |(place, (_, label)): (usize, &(Vec<u8>, u16))| {
            let answer = *answers.get(place)?;
            let (label, is_right, answer) = (self.class(*label), answer == *label, self.class(answer));
            let right = || t!(running_example_right, label);
            let words = if is_right { right() } else { t!(running_example_wrong, label, answer) };
            Some(Example { answer, is_right, words })
        };
        self.images.iter().enumerate().map(example).collect()
    }
}

/// Encodes an uncompressed 24-bit bitmap: rows from bottom to top, pixels in BGR order, each row padded to four bytes
/// (<https://learn.microsoft.com/windows/win32/gdi/bitmap-storage>). A single channel is gray.
fn bitmap(width: u32, channels: usize, pixels: &[u8]) -> Vec<u8> {
    let row_bytes = (width as usize * channels).max(1);
    let height = u32::try_from(pixels.len() / row_bytes).unwrap_or_default();
    let padded = (3 * width).next_multiple_of(4);
    let size = HEADERS + padded * height;
    let mut file = Vec::with_capacity(size as usize);
    file.extend(b"BM");
    for number in [size, 0, HEADERS, HEADERS - 14, width, height, 1 | 24 << 16, 0, padded * height, 0, 0, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    for row in pixels.chunks_exact(row_bytes).rev() {
        for pixel in row.chunks_exact(channels.max(1)) {
            let channel = |place: usize| pixel[place.min(pixel.len() - 1)];
            file.extend([channel(2), channel(1), channel(0)]);
        }
        file.resize(file.len() + (padded - 3 * width) as usize, 0);
    }
    file
}

#[cfg(test)]
mod tests {
    use results::{Summary, WorkloadRecord};
    use training_worker::Loaded;

    use super::*;
    use crate::forecast::tests::{progress, started};
    use crate::words::outcome::tests::record;
    use crate::words::{PageLanguage, speak};

    fn begun() -> Live {
        let mut live = Live::default();
        live.event(&started("caffe-mnist", 1));
        live
    }

    #[test]
    fn progress_never_decreases() {
        let (mut live, mut last) = (begun(), 0.0);
        for (seconds, fraction) in [(1.0, 0.0), (10.0, 0.6), (11.0, 0.5), (30.0, 0.9)] {
            live.event(&progress(1, fraction));
            live.tick(seconds);
            assert!(live.fraction >= last && live.fraction < 1.0, "{} after {last}", live.fraction);
            last = live.fraction;
        }
    }

    #[test]
    fn status_names_the_bundle_until_it_has_arrived_and_then_the_phase() {
        let mut live = Live::new(Some(Arrival::begin("Burn", 1000)), Forecast::default());
        assert_eq!(live.status(), "Loading Burn");
        let bundle = live.bundle.as_mut().unwrap();
        bundle.bytes = 500;
        bundle.loaded = Some(Loaded { compressed_bytes: None, bytes: 1000, cached: None, seconds: 1.0 });
        assert_eq!(live.status(), "Getting ready");
        live.event(&started("caffe-mnist", 1));
        live.event(&Event::PhaseStarted { workload: "caffe-mnist".to_owned(), phase: Phase::Training });
        assert_eq!(live.status(), "Network 2 of 2: training");
        live.event(&progress(1, 0.5));
        assert_eq!(live.status(), "Network 2 of 2: training");
    }

    #[test]
    fn the_best_network_for_digits_can_be_tried() {
        let mut live = begun();
        assert_eq!(live.best_network(), None);
        for (workload, accuracy) in
            [("caffe-mnist", 0.9), ("keras-mnist-mlp", 0.95), ("keras-cifar10-cnn", 0.99), ("keras-mnist-hrnn", 0.98)]
        {
            live.event(&started(workload, 0));
            // The plain loops are too slow for the last one, which shows no answers.
            if workload != "keras-mnist-hrnn" {
                let (workload, images) = (workload.to_owned(), vec![5]);
                live.event(&Event::Examples { workload, height: 1, width: 1, channels: 1, images, labels: vec![7] });
            }
            let record = record([0.1, accuracy], None, Summary::default());
            let record = Box::new(WorkloadRecord { workload: workload.to_owned(), ..record });
            live.event(&Event::WorkloadFinished { record });
        }
        let best = live.best_network().unwrap();
        assert_eq!((best.workload.as_str(), best.examples.pixels(0)), ("keras-mnist-mlp", Some([5].as_slice())));
    }

    #[test]
    fn keeps_latest_texts_and_the_writer_with_the_lowest_loss() {
        let mut live = begun();
        assert_eq!(live.best_writer(), None);
        for (workload, losses) in [("gpt-small", [2.5, 1.5]), ("gpt-nano", [2.0, 1.9])] {
            live.event(&started(workload, 0));
            for number in 0..6 {
                live.event(&Event::Wrote { workload: workload.to_owned(), text: format!("{workload} {number}") });
            }
            let mut record = record([0.1, 0.4], None, Summary::default());
            record.evaluations.iter_mut().zip(losses).for_each(|(test, loss)| test.loss = loss);
            let record = Box::new(WorkloadRecord { workload: workload.to_owned(), ..record });
            live.event(&Event::WorkloadFinished { record });
        }
        let numbers: Vec<usize> = live.workload.iter().flat_map(|of| &of.texts).map(|text| text.number).collect();
        assert_eq!(numbers, [2, 3, 4, 5]);
        let best = live.best_writer().unwrap();
        assert_eq!((best.workload.as_str(), best.text.as_str()), ("gpt-small", "gpt-small 5"));
    }

    #[test]
    fn thins_points_of_long_run_and_keeps_ends() {
        let mut live = begun();
        for step in 0..2000 {
            live.event(&progress(step, 0.0));
        }
        let workload = live.workload.unwrap();
        assert!(workload.training.len() <= MAX_POINTS);
        assert_eq!(workload.training[0].step, 0);
        assert!(workload.training.windows(2).all(|pair| pair[0].step < pair[1].step));
        assert_eq!(workload.step, 1999);
        assert_eq!(workload.training.last().unwrap().step, 1999);
    }

    #[test]
    fn bitmap_has_size_in_header_and_rows_bottom_up() {
        // Two rows of one pixel each, red above blue, with one byte of padding per row.
        let file = bitmap(1, 3, &[255, 0, 0, 0, 0, 255]);
        assert_eq!(&file[..2], b"BM");
        assert_eq!(u32::from_le_bytes(file[2..6].try_into().unwrap()) as usize, file.len());
        assert_eq!(u32::from_le_bytes(file[10..14].try_into().unwrap()), 54);
        assert_eq!((file[18], file[22], file[26], file[28]), (1, 2, 1, 24), "width, height, planes, bits");
        assert_eq!(file[54..], [255, 0, 0, 0, 0, 0, 255, 0]);
        assert_eq!(bitmap(4, 1, &[7, 8, 9, 10])[54..], [7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10], "grey, no padding");
    }

    #[test]
    fn describes_right_and_wrong_predictions() {
        let digits = Examples::new("caffe-mnist", [1, 1, 1], &[0, 255], &[7, 2]);
        let answered = digits.answered(&[7, 3]).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!((answered[0].is_right, answered[0].words.as_str()), (true, "7, answered correctly"));
        assert_eq!((answered[1].is_right, answered[1].words.as_str()), (false, "2, incorrectly answered 3"));
        assert_eq!(digits.answered(&[]), [None, None]);
        assert_eq!(digits.bitmaps().count(), 2);
        let pictures = Examples::new("caffe-cifar10", [1, 1, 3], &[0; 3], &[8]);
        assert_eq!(pictures.answered(&[0])[0].as_ref().unwrap().words, "ship, incorrectly answered airplane");
        speak(PageLanguage::German);
        assert_eq!(pictures.answered(&[8])[0].as_ref().unwrap().words, "Schiff, richtig beantwortet");
    }
}
