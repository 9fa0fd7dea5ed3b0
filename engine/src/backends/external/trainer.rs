use async_trait::async_trait;
use results::Layout;
use serde_json::Value;
use shaders::params::Step;
use shaders::reference::pcg4d::uniform;

use super::{Build, Conversation, DropoutPlace, Message, PROTOCOL_VERSION, Question, StepToTrain, Timing, exceeds};
use crate::data::Split;
use crate::error::EngineError;
use crate::model::{Layer, ModelError, Node};
use crate::preprocessing::{GatherKind, Preprocessing};
use crate::random::stream;
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob};
use crate::training::{Order, TestView};

/// Approximate size of a message in bytes, which a program must hold in memory.
const MESSAGE_BYTES: usize = 32 << 20;

pub(super) struct ExternalTrainer {
    conversation: Conversation,
    network: u32,
    job: TrainingJob,
    feed: Feed,
    classes: usize,
    elements: Vec<usize>,
    step: u64,
    facts: TrainerFacts,
    training: Timing,
    testing: Timing,
    link: Link,
}

/// Cost of the link, measured with a message that requires no work.
#[derive(Default)]
struct Link {
    bytes: usize,
    seconds: f64,
}

impl Link {
    /// Returns the time that the link alone takes to answer a message of this size.
    async fn seconds(&mut self, conversation: &Conversation, bytes: usize) -> Result<f64, EngineError> {
        if bytes > 2 * self.bytes {
            let question = Question::Hello { protocol: PROTOCOL_VERSION };
            let answer = conversation.ask(&question, vec![0; bytes]).await?;
            *self = Self { bytes, seconds: answer.seconds };
        }
        Ok(self.seconds)
    }
}

impl ExternalTrainer {
    pub(super) async fn new(
        conversation: Conversation,
        network: u32,
        layout: Option<Layout>,
        job: &TrainingJob,
    ) -> Result<Self, EngineError> {
        let lacks = |what: &str| {
            let (program, message) = (conversation.name.to_owned(), format!("the protocol has no {what}"));
            Err(EngineError::ProgramLacks { program, message })
        };
        if job.average.is_some() {
            return lacks("averages of weights");
        }
        if job.input.test_views.len() > 1 {
            return lacks("tests over several views of an image");
        }
        let (feed, tensors, classes) = (Feed::new(job)?, job.model.tensors()?, job.model.classes()?);
        let question = Question::Build(Build {
            network,
            model: &job.model,
            tensors: &tensors,
            loss: job.loss,
            optimizer: &job.optimizer,
            classes,
            shapes: job.model.shapes()?,
            batch_sizes: batch_sizes(job),
            test_batch_sizes: test_batch_sizes(job),
            dropouts: &feed.dropouts,
            layout,
        });
        let weights = job.initial_weights()?;
        let payload = weights.iter().flatten().flat_map(|weight| weight.to_le_bytes()).collect();
        let answer = conversation.ask(&question, payload).await?;
        let has: Option<Layout> = answer.optional("layout")?;
        if let Some(asked) = layout.filter(|asked| has != Some(*asked)) {
            let has = has.map_or("reports no layout".to_owned(), |has| format!("has {}", has.name()));
            let (program, name) = (conversation.name.to_owned(), asked.name());
            return Err(EngineError::ProgramLacks { program, message: format!("{name} was requested, but it {has}") });
        }
        let compiling_seconds = answer.time("compiling_seconds")?;
        if let Some(reported) = compiling_seconds.filter(|&reported| exceeds(reported, answer.seconds, 1.0)) {
            let what = format!("is {reported:.3}, but the clock shows {:.3} s around the answer", answer.seconds);
            return Err(answer.wrong("compiling_seconds", &what));
        }
        let settings: Vec<String> = answer.optional("settings")?.unwrap_or_default();
        let settings = settings.iter().map(|setting| super::short(setting));
        let facts = TrainerFacts {
            compiling_seconds,
            device_memory_bytes: answer.optional("memory_bytes")?.unwrap_or_default(),
            layout: has,
            variants: settings.collect(),
            ..TrainerFacts::default()
        };
        Ok(Self {
            conversation,
            network,
            feed,
            classes: classes as usize,
            elements: weights.iter().map(Vec::len).collect(),
            job: job.clone(),
            step: 0,
            facts,
            training: Timing::default(),
            testing: Timing::default(),
            link: Link::default(),
        })
    }

    fn next_step(&mut self, payload: &mut Vec<u8>) -> StepToTrain {
        let step = self.job.step(self.step, 0);
        self.feed.training_batch(&self.job, self.step, payload);
        let optimizer = &self.job.optimizer;
        let scheduled_rate = optimizer.scheduled_rate(self.step, self.job.planned_steps);
        let learning_rate = scheduled_rate * optimizer.correction(self.step);
        let told = StepToTrain { step: self.step, rows: step.count, scheduled_rate, learning_rate };
        self.step += 1;
        told
    }

    async fn tensors(&self, question: &Question<'_>) -> Result<Vec<Vec<f32>>, EngineError> {
        let answer = self.conversation.ask(question, Vec::new()).await?;
        let numbers = answer.numbers(self.elements.iter().sum())?;
        let mut rest = numbers.as_slice();
        let take = |&elements: &usize| {
            let (tensor, others) = rest.split_at(elements);
            rest = others;
            tensor.to_vec()
        };
        Ok(self.elements.iter().map(take).collect())
    }
}

#[async_trait(?Send)]
impl Trainer for ExternalTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let mut report = StepReport { seconds: Some(0.0), ..StepReport::default() };
        let bytes = self.feed.bytes(self.job.batches.batch_size).max(1);
        let most = u32::try_from(MESSAGE_BYTES / bytes).unwrap_or(u32::MAX).max(1);
        let mut left = steps;
        while left > 0 {
            let count = left.min(most);
            left -= count;
            let mut payload = Vec::new();
            let first = self.step;
            let steps: Vec<StepToTrain> = (0..count).map(|_| self.next_step(&mut payload)).collect();
            let samples = steps.iter().map(|step| u64::from(step.rows)).sum();
            let link_seconds = self.link.seconds(&self.conversation, payload.len()).await?;
            let question = Question::Train { network: self.network, steps };
            let answer = self.conversation.ask(&question, payload).await?;
            let losses: Vec<Value> = answer.field("losses")?;
            if losses.len() != count as usize {
                return Err(answer.wrong("losses", &format!("has {} numbers for {count} steps", losses.len())));
            }
            for (index, loss) in losses.iter().enumerate() {
                report.losses.push(answer.loss(&format!("losses[{index}]"), loss, first + index as u64)?);
            }
            report.correct += answer.correct(samples)?;
            report.samples += samples;
            let reported = self.training.add(&answer, link_seconds)?;
            report.seconds = report.seconds.map(|seconds| seconds + reported);
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        let (order, split) = self.job.evaluated(set);
        let view = &self.job.input.test_views[0];
        let mut report = TestReport { samples: u64::from(samples), seconds: Some(0.0), ..TestReport::default() };
        let batch = self.job.test_batch();
        let mut offset = 0;
        while offset < samples {
            let (mut rows, mut payload) = (Vec::new(), Vec::new());
            while offset < samples && (rows.is_empty() || payload.len() < MESSAGE_BYTES) {
                let count = batch.min(samples - offset);
                let step = Step { offset, count, seed: self.job.seed, ..Step::default() };
                self.feed.test_batch(split, &order, &step, view, &mut payload);
                rows.push(count);
                offset += count;
            }
            let tested = rows.iter().map(|&rows| u64::from(rows)).sum();
            let link_seconds = self.link.seconds(&self.conversation, payload.len()).await?;
            let question = Question::Evaluate { network: self.network, rows };
            let answer = self.conversation.ask(&question, payload).await?;
            report.loss += answer.loss("loss", &answer.field("loss")?, self.step)? / f64::from(samples);
            report.correct += answer.correct(tested)?;
            let reported = self.testing.add(&answer, link_seconds)?;
            report.seconds = report.seconds.map(|seconds| seconds + reported);
        }
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.tensors(&Question::Weights { network: self.network }).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.tensors(&Question::Gradients { network: self.network }).await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let answer = self.conversation.ask(&Question::Logits { network: self.network, rows }, Vec::new()).await?;
        let rows = (rows as usize).min(answer.payload.len() / (4 * self.classes));
        let logits = answer.numbers(rows * self.classes)?;
        Ok(logits.chunks_exact(self.classes).map(|row| row.iter().map(|&logit| f64::from(logit)).collect()).collect())
    }

    fn facts(&self) -> TrainerFacts {
        self.facts.clone()
    }
}

impl Drop for ExternalTrainer {
    fn drop(&mut self) {
        let header = Question::Forget { network: self.network }.header();
        drop(self.conversation.program.send(Message { header, payload: Vec::new() }));
    }
}

fn batch_sizes(job: &TrainingJob) -> Vec<u32> {
    let whole = job.batches.step(0).count;
    let rest = job.batches.step(u64::from(job.batches.steps_per_epoch()).saturating_sub(1)).count;
    if rest == whole { vec![whole] } else { vec![whole, rest] }
}

fn test_batch_sizes(job: &TrainingJob) -> Vec<u32> {
    let (whole, samples) = (job.test_batch(), job.evaluated_samples(EvaluationSet::Test));
    match samples % whole {
        0 => vec![whole],
        rest if samples < whole => vec![rest],
        rest => vec![whole, rest],
    }
}

pub(super) struct Feed {
    preprocessing: Preprocessing,
    features: u32,
    dropouts: Vec<DropoutPlace>,
    order: Order,
}

impl Feed {
    pub(super) fn new(job: &TrainingJob) -> Result<Self, EngineError> {
        let data = job.model.stages(job.dropout)?.values[0];
        Ok(Self {
            preprocessing: Preprocessing::new(job, &data, 1)?,
            features: job.model.input.features(),
            dropouts: dropouts(job)?,
            order: Order::default(),
        })
    }

    pub(super) fn bytes(&self, rows: u32) -> usize {
        let masks = self.dropouts.iter().map(|dropout| dropout.features).sum::<u32>();
        rows as usize * (4 * self.features + 4 + masks) as usize
    }

    /// Appends the training batch of step `number`: values as (rows, features) of f32, labels as u32, and for each
    /// dropout layer its mask as (rows, features) of bytes, 1 for kept elements.
    pub(super) fn training_batch(&mut self, job: &TrainingJob, number: u64, bytes: &mut Vec<u8>) {
        self.order.advance(job, number);
        let step = job.step(number, 0);
        self.batch(self.preprocessing.gather, &job.data.train, &self.order.samples, &step, bytes);
        for (layer, dropout) in (0..).zip(&self.dropouts) {
            let stream = stream::DROPOUT + layer;
            let survives = |index| u8::from(uniform(index, stream, step.step, step.seed) >= dropout.rate);
            bytes.extend((0..step.count * dropout.features).map(survives));
        }
    }

    pub(super) fn test_batch(&self, split: &Split, order: &[u32], step: &Step, view: &TestView, bytes: &mut Vec<u8>) {
        self.batch(self.preprocessing.gather.seen(view), split, order, step, bytes);
    }

    fn batch(&self, kind: GatherKind, split: &Split, order: &[u32], step: &Step, bytes: &mut Vec<u8>) {
        let (values, labels) = self.preprocessing.on_host::<f32>(kind, split, order, step, self.features);
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(labels.iter().flat_map(|label| label.to_le_bytes()));
    }
}

fn dropouts(job: &TrainingJob) -> Result<Vec<DropoutPlace>, ModelError> {
    let (model, shapes) = (&job.model, job.model.shapes()?);
    let dropout = |(node, of): (usize, &Node)| match of.layer {
        Layer::Dropout { rate } => {
            Some(DropoutPlace { node, features: model.shape_of(of.inputs[0], &shapes).features(), rate })
        }
        _ => None,
    };
    Ok(model.nodes.iter().enumerate().filter(|_| job.dropout).filter_map(dropout).collect())
}
