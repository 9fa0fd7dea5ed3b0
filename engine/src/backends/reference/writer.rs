//! Texts that a language model writes, one character after another.

use std::collections::BTreeMap;

use libm::exp;
use shaders::params::Step;
use shaders::reference::dot;

use super::network::Network;
use crate::data::Origin;
use crate::model::{Layer, Model, Shape, StageKind, Stages};
use crate::random::{Generator, stream};
use crate::trainer::TrainingJob;

/// Language model that continues texts.
///
/// It keeps keys and values of earlier characters, so that a character costs one pass over the weights. When a text
/// exceeds the network's window, the last half of the window becomes the beginning of the next one.
pub struct Writer {
    /// Network of a single character.
    network: Network<f32>,
    /// Keys and values of the window's characters, by the number of the value that attention makes of them.
    contexts: BTreeMap<usize, Vec<f32>>,
    /// Classes of the characters in the window.
    window: Vec<u8>,
    window_length: usize,
    /// Character of each class. The last one stands for all rare characters and is never written.
    alphabet: Vec<char>,
    logits_scale: f32,
}

impl Writer {
    /// Beginning of the texts that a network writes while it trains.
    pub const PROMPT: &str = "The ";
    /// Temperature of these texts.
    pub const TEMPERATURE: f64 = 0.8;

    /// Creates the writer of a job, which has no weights yet. Returns `None` unless the network predicts the next
    /// character at every position of a text, from this position and earlier ones.
    pub(crate) fn new(job: &TrainingJob) -> Option<Self> {
        let Origin::Text { alphabet, .. } = &job.data.definition.origin else { return None };
        let alphabet: Vec<char> = alphabet.chars().collect();
        let tests_averages = job.average.is_some_and(|average| average.is_tested());
        let stages = of_one_character(&job.model).filter(|_| !tests_averages)?;
        let classes = job.model.classes().ok()? as usize;
        (classes == alphabet.len()).then(|| Self {
            network: Network::new(stages, Vec::new()),
            contexts: BTreeMap::new(),
            window: Vec::new(),
            window_length: job.model.input.features() as usize,
            alphabet,
            logits_scale: job.loss.logits_scale,
        })
    }

    pub(crate) fn set_weights(&mut self, weights: Vec<Vec<f32>>) {
        self.network.tensors = weights;
    }

    /// Returns the characters that follow `beginning`, without end. The same seed gives the same ones. The network
    /// reads at most a window of the beginning. A temperature of almost 0 gives the most probable characters.
    pub fn continuation(&mut self, beginning: &str, temperature: f64, seed: u32) -> impl Iterator<Item = char> {
        let mut unread: Vec<u8> = beginning.chars().map(|character| self.class(character)).collect();
        unread.drain(..unread.len().saturating_sub(self.window_length - 1));
        if unread.is_empty() {
            // In an alphabet sorted by code point, this is the line break.
            unread.push(0);
        }
        self.start_window();
        let mut logits = Vec::new();
        (0..).map(move |step| {
            for class in unread.drain(..) {
                logits = self.read(class);
            }
            let draw = Generator { stream: stream::TEXT, step, seed };
            let chosen = choose(&logits, f64::from(self.logits_scale) / temperature, draw.uniform(0));
            unread.push(u8::try_from(chosen).expect("a text has at most 256 classes"));
            self.alphabet[chosen]
        })
    }

    fn class(&self, character: char) -> u8 {
        let last = self.alphabet.len() - 1;
        let class = self.alphabet.iter().position(|&known| known == character).unwrap_or(last);
        u8::try_from(class).expect("a text has at most 256 classes")
    }

    fn start_window(&mut self) {
        self.window.clear();
        self.contexts.clear();
    }

    /// Adds a character to the window and returns the logits of the next one.
    fn read(&mut self, class: u8) -> Vec<f32> {
        if self.window.len() == self.window_length {
            let last_half = self.window.split_off(self.window_length.div_ceil(2));
            self.start_window();
            for class in last_half {
                self.read(class);
            }
        }
        let (position, contexts) = (self.window.len(), &mut self.contexts);
        self.window.push(class);
        let step = Step { count: 1, ..Step::default() };
        let logits = self.network.forward_except(&step, vec![f32::from(class)], 1, |stage, tensors, x, y| {
            match stage.kind {
                StageKind::PositionEmbedding => {
                    let embedding = &tensors[stage.tensor][position * x.len()..][..x.len()];
                    y.iter_mut().zip(x.iter().zip(embedding)).for_each(|(y, (x, embedding))| *y = x + embedding);
                }
                StageKind::Attention { heads, .. } => {
                    attend(heads as usize, x, contexts.entry(stage.output).or_default(), y);
                }
                _ => return false,
            }
            true
        });
        logits.to_vec()
    }
}

/// Returns the stages of the same network for a text of one character, or `None` if it reads later characters or
/// something other than a window of them.
fn of_one_character(model: &Model) -> Option<Stages> {
    let mut one = Model { input: Shape::vector(1), ..model.clone() };
    for node in &mut one.nodes {
        if let Layer::Embedding { first, count, .. } = &mut node.layer {
            if (*first, *count) != (0, model.input.features()) {
                return None;
            }
            *count = 1;
        }
    }
    let stages = one.stages(false).ok()?;
    let is_known = |kind| match kind {
        StageKind::Dense { per_pixel, .. } => per_pixel,
        StageKind::Attention { causal, .. } => causal,
        StageKind::Embedding(_)
        | StageKind::PositionEmbedding
        | StageKind::LayerNorm { .. }
        | StageKind::Gelu
        | StageKind::Add
        | StageKind::WordScores => true,
        _ => false,
    };
    stages.stages.iter().all(|stage| is_known(stage.kind)).then_some(stages)
}

/// `y = softmax(q·kᵀ/√d)·v` for the newest character.
/// `x`: (3, heads, d): query, key, value; `context`: (characters, 2, heads, d), to which key and value are added.
fn attend(heads: usize, x: &[f32], context: &mut Vec<f32>, y: &mut [f32]) {
    let (queries, new) = x.split_at(y.len());
    context.extend(new);
    let size = y.len() / heads;
    let scale = 1.0 / (size as f32).sqrt();
    let place = |head: usize| head * size..(head + 1) * size;
    let earlier = || context.chunks_exact(new.len()).map(|pair| pair.split_at(queries.len()));
    for head in (0..heads).map(place) {
        let mut weights: Vec<f32> =
            earlier().map(|(keys, _)| scale * dot(&queries[head.clone()], &keys[head.clone()])).collect();
        let highest = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        weights.iter_mut().for_each(|weight| *weight = (*weight - highest).exp());
        let sum: f32 = weights.iter().sum();
        for (weight, (_, values)) in weights.into_iter().zip(earlier()) {
            for (y, value) in y[head.clone()].iter_mut().zip(&values[head.clone()]) {
                *y += weight / sum * value;
            }
        }
    }
}

/// Draws a class in proportion to `exp(sharpness · logit)`, but never the last one.
fn choose(logits: &[f32], sharpness: f64, uniform: f64) -> usize {
    let logits = &logits[..logits.len() - 1];
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    // A sharpness without bound is no number if the difference is 0.
    let power = |&logit: &f32| if logit == highest { 1.0 } else { exp(sharpness * f64::from(logit - highest)) };
    let weights: Vec<f64> = logits.iter().map(power).collect();
    let mut left = uniform * weights.iter().sum::<f64>();
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    chosen.unwrap_or(weights.len() - 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{DataSet, data_set};
    use crate::testing::file_batches;

    /// Returns the reduced language model on noise, and weights that make its answers differ.
    fn job() -> (TrainingJob, Vec<Vec<f32>>) {
        let workload = crate::workload("gpt-nano").unwrap().reduced();
        let data = Arc::new(DataSet::noise(data_set(workload.data_set).unwrap()));
        let job = workload.job(data, file_batches(8, 4), 1);
        let weights = job.initial_weights().unwrap();
        (job, weights.into_iter().map(|tensor| tensor.into_iter().map(|weight| 8.0 * weight).collect()).collect())
    }

    fn writer() -> Writer {
        let (job, weights) = job();
        let mut writer = Writer::new(&job).unwrap();
        writer.set_weights(weights);
        writer
    }

    fn write(temperature: f64, seed: u32) -> String {
        writer().continuation(Writer::PROMPT, temperature, seed).take(60).collect()
    }

    #[test]
    fn logits_equal_those_of_the_whole_window() {
        let (job, weights) = job();
        let characters = &job.data.train.images[..job.model.input.features() as usize];
        let mut whole = Network::new(job.model.stages(false).unwrap(), weights);
        let input = characters.iter().copied().map(f32::from).collect();
        let expected = whole.forward(&Step { count: 1, ..Step::default() }, input, 1);
        let mut writer = writer();
        let found: Vec<f32> = characters.iter().flat_map(|&class| writer.read(class)).collect();
        let largest = expected.iter().fold(0.0, |largest: f32, logit| largest.max(logit.abs()));
        assert!(largest > 0.1, "{largest}");
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4 * largest, "{found} instead of {expected}");
        }
    }

    #[test]
    fn continues_after_window_from_its_last_half() {
        let mut writer = writer();
        let text: Vec<u8> = (0..17).collect();
        let logits = text.iter().map(|&class| writer.read(class)).last().unwrap();
        assert_eq!(writer.window, text[8..]);
        writer.start_window();
        assert_eq!(text[8..].iter().map(|&class| writer.read(class)).last().unwrap(), logits);
    }

    #[test]
    fn same_seed_gives_same_text() {
        let text = write(Writer::TEMPERATURE, 7);
        assert_eq!(text.chars().count(), 60);
        assert_eq!(text, write(Writer::TEMPERATURE, 7));
        assert_ne!(text, write(Writer::TEMPERATURE, 8));
    }

    #[test]
    fn low_temperature_gives_the_most_probable_character() {
        for temperature in [0.0, 1e-6] {
            let mut writer = writer();
            let written: Vec<char> = writer.continuation("a", temperature, 3).take(5).collect();
            writer.start_window();
            let mut class = writer.class('a');
            for character in written {
                let logits = writer.read(class);
                let best = (0..logits.len() - 1).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
                assert_eq!(character, writer.alphabet[best]);
                class = writer.class(character);
            }
        }
    }

    #[test]
    fn rare_characters_are_read_but_never_written() {
        assert_eq!(usize::from(writer().class('🐋')), writer().alphabet.len() - 1);
        assert_eq!(choose(&[0.0, 1.0, 50.0], 1.0, 0.999), 1);
    }

    #[test]
    fn only_language_models_write() {
        let (job, _) = job();
        let image = crate::workload("keras-mnist-mlp").unwrap();
        assert!(Writer::new(&TrainingJob { model: image.model, ..job.clone() }).is_none());
        let mut both_ways = job.model.clone();
        both_ways.nodes.iter_mut().for_each(|node| {
            if let Layer::Attention { causal, .. } = &mut node.layer {
                *causal = false;
            }
        });
        assert!(Writer::new(&TrainingJob { model: both_ways, ..job }).is_none());
    }
}
