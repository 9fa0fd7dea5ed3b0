use async_trait::async_trait;
use results::Layout;
use serde_json::Value;
use shaders::params::Step;
use shaders::reference::pcg4d::uniform;

use super::{
    Answer, AnswerTimes, Build, Conversation, DropoutPlace, Message, PROTOCOL_VERSION, Question, StepToTrain, exceeds,
};
use crate::data::Split;
use crate::error::{EngineError, Result};
use crate::model::Layer;
use crate::preprocessing::{GatherKind, Preprocessing};
use crate::random::stream;
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob};
use crate::training::Order;

/// Approximate size of a message in bytes, which a program must hold in memory.
const MESSAGE_BYTES: usize = 32 << 20;

pub(super) struct ExternalTrainer {
    conversation: Conversation,
    network: u32,
    job: TrainingJob,
    preprocessing: Preprocessing,
    dropouts: Vec<DropoutPlace>,
    order: Order,
    classes: usize,
    /// Answers for a sample.
    positions: u32,
    elements: Vec<usize>,
    step: u64,
    facts: TrainerFacts,
    training: AnswerTimes,
    testing: AnswerTimes,
    /// Bytes of a message that requires no work, and the time that the link takes to answer it.
    link: (usize, f64),
}

impl ExternalTrainer {
    pub(super) async fn new(
        conversation: Conversation,
        network: u32,
        layout: Option<Layout>,
        job: &TrainingJob,
    ) -> Result<Self> {
        let lacks = |message| Err(EngineError::ProgramLacks { program: conversation.name.to_owned(), message });
        if job.average.is_some() {
            return lacks("the protocol has no averages of weights".to_owned());
        }
        if job.input.test_views.len() > 1 {
            return lacks("the protocol has no tests over several views of an image".to_owned());
        }
        let (tensors, shapes) = (job.model.tensors()?, job.model.shapes()?);
        let (classes, positions) = (job.model.classes()?, job.model.positions()?);
        let dropout = |(node, of): (usize, &crate::model::Node)| match of.layer {
            Layer::Dropout { rate } if job.dropout => {
                let features = job.model.shape_of(of.inputs[0], &shapes).features();
                Some(DropoutPlace { node, features, rate })
            }
            _ => None,
        };
        let dropouts: Vec<DropoutPlace> = job.model.nodes.iter().enumerate().filter_map(dropout).collect();
        let preprocessing = Preprocessing::new(job, &job.model.stages(job.dropout)?.values[0], 1)?;
        let last = u64::from(job.batches.steps_per_epoch()).saturating_sub(1);
        let (tested, test_batch) = (job.evaluated_samples(EvaluationSet::Test), job.test_batch());
        let question = Question::Build(Build {
            network,
            model: &job.model,
            tensors: &tensors,
            loss: job.loss,
            optimizer: &job.optimizer,
            classes,
            positions,
            batch_sizes: distinct([job.batches.step(0).count, job.batches.step(last).count]),
            test_batch_sizes: distinct([test_batch.min(tested), tested % test_batch]),
            dropouts: &dropouts,
            shapes,
            layout,
        });
        let weights = job.initial_weights()?;
        let payload = weights.iter().flatten().flat_map(|weight| weight.to_le_bytes()).collect();
        let answer = conversation.ask(&question, payload).await?;
        let has: Option<Layout> = answer.optional("layout")?;
        if let Some(asked) = layout.filter(|asked| has != Some(*asked)) {
            let has = has.map_or("reports no layout".to_owned(), |has| format!("has {}", has.name()));
            return lacks(format!("{} was requested, but it {has}", asked.name()));
        }
        let compiling_seconds = answer.time("compiling_seconds")?;
        if let Some(reported) = compiling_seconds.filter(|&reported| exceeds(reported, answer.seconds, 1.0)) {
            let what = format!("is {reported:.3}, but the clock shows {:.3} s around the answer", answer.seconds);
            return Err(answer.wrong("compiling_seconds", &what));
        }
        let settings: Vec<String> = answer.optional("settings")?.unwrap_or_default();
        let facts = TrainerFacts {
            compiling_seconds,
            device_memory_bytes: answer.optional("memory_bytes")?.unwrap_or_default(),
            layout: has,
            variants: settings.iter().map(|setting| super::short(setting)).collect(),
            ..TrainerFacts::default()
        };
        Ok(Self {
            conversation,
            network,
            preprocessing,
            dropouts,
            order: Order::default(),
            classes: classes as usize,
            positions,
            elements: weights.iter().map(Vec::len).collect(),
            job: job.clone(),
            step: 0,
            facts,
            training: AnswerTimes::default(),
            testing: AnswerTimes::default(),
            link: (0, 0.0),
        })
    }

    /// Prepares the next training step and appends its batch to `payload`: values as (rows, features) of f32, labels as
    /// (rows, positions) of u32, and for each dropout layer its mask as (rows, features) of bytes, 1 for kept elements.
    fn next_step(&mut self, payload: &mut Vec<u8>) -> StepToTrain {
        let (job, number) = (&self.job, self.step);
        self.order.advance(job, number);
        let step = job.step(number, 0);
        self.add_batch(self.preprocessing.gather, &job.data.train, &self.order.samples, &step, payload);
        for (layer, dropout) in (0..).zip(&self.dropouts) {
            let stream = stream::DROPOUT + layer;
            let survives = |index| u8::from(uniform(index, stream, step.step, step.seed) >= dropout.rate);
            payload.extend((0..step.count * dropout.features).map(survives));
        }
        let scheduled_rate = job.optimizer.scheduled_rate(number, job.planned_steps);
        let learning_rate = scheduled_rate * job.optimizer.correction(number);
        self.step += 1;
        StepToTrain { step: number, rows: step.count, scheduled_rate, learning_rate }
    }

    fn add_batch(&self, kind: GatherKind, split: &Split, order: &[u32], step: &Step, payload: &mut Vec<u8>) {
        let features = self.job.model.input.features();
        let (values, labels) = self.preprocessing.on_host::<f32>(kind, split, order, step, features);
        payload.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        payload.extend(labels.iter().flat_map(|label| label.to_le_bytes()));
    }

    /// Asks for training or testing, after measuring the link alone with a message of about the same size.
    async fn ask_for_work(&mut self, question: Question<'_>, payload: Vec<u8>) -> Result<(Answer, f64)> {
        if payload.len() > 2 * self.link.0 {
            let hello = Question::Hello { protocol: PROTOCOL_VERSION };
            let answer = self.conversation.ask(&hello, vec![0; payload.len()]).await?;
            self.link = (payload.len(), answer.seconds);
        }
        let answer = self.conversation.ask(&question, payload).await?;
        let is_training = matches!(question, Question::Train { .. });
        let times = if is_training { &mut self.training } else { &mut self.testing };
        let seconds = times.add(&answer, self.link.1)?;
        Ok((answer, seconds))
    }

    async fn tensors(&self, question: &Question<'_>) -> Result<Vec<Vec<f32>>> {
        let answer = self.conversation.ask(question, Vec::new()).await?;
        let mut numbers = answer.numbers(self.elements.iter().sum())?.into_iter();
        Ok(self.elements.iter().map(|&elements| numbers.by_ref().take(elements).collect()).collect())
    }
}

#[async_trait(?Send)]
impl Trainer for ExternalTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let (mut report, mut seconds) = (StepReport::default(), 0.0);
        let masks: u32 = self.dropouts.iter().map(|of| of.features).sum();
        let bytes_per_sample = 4 * (self.job.model.input.features() + self.positions) + masks;
        let bytes = self.job.batches.batch_size as usize * bytes_per_sample as usize;
        let most = u32::try_from(MESSAGE_BYTES / bytes.max(1)).unwrap_or(u32::MAX).max(1);
        let mut left = steps;
        while left > 0 {
            let count = left.min(most);
            left -= count;
            let mut payload = Vec::new();
            let first = self.step;
            let steps: Vec<StepToTrain> = (0..count).map(|_| self.next_step(&mut payload)).collect();
            let samples = steps.iter().map(|step| u64::from(step.rows)).sum::<u64>();
            let (answer, reported) =
                self.ask_for_work(Question::Train { network: self.network, steps }, payload).await?;
            let losses: Vec<Value> = answer.field("losses")?;
            if losses.len() != count as usize {
                return Err(answer.wrong("losses", &format!("has {} numbers for {count} steps", losses.len())));
            }
            for (index, loss) in losses.iter().enumerate() {
                report.losses.push(answer.loss(&format!("losses[{index}]"), loss, first + index as u64)?);
            }
            report.correct += answer.correct(samples * u64::from(self.positions))?;
            report.samples += samples;
            seconds += reported;
        }
        Ok(StepReport { seconds: Some(seconds), ..report })
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        let answers = u64::from(samples) * u64::from(self.positions);
        let (mut report, mut seconds) = (TestReport { answers, ..TestReport::default() }, 0.0);
        let mut steps = self.job.test_steps(self.step, samples, self.job.test_batch()).peekable();
        while steps.peek().is_some() {
            let (order, split) = self.job.evaluated(set);
            let kind = self.preprocessing.gather.seen(&self.job.input.test_views[0]);
            let (mut rows, mut payload) = (Vec::new(), Vec::new());
            while let Some(step) = steps.next_if(|_| payload.len() < MESSAGE_BYTES) {
                self.add_batch(kind, split, &order, &step, &mut payload);
                rows.push(step.count);
            }
            let tested = rows.iter().map(|&rows| u64::from(rows) * u64::from(self.positions)).sum();
            let question = Question::Evaluate { network: self.network, rows };
            let (answer, reported) = self.ask_for_work(question, payload).await?;
            report.loss += answer.loss("loss", &answer.field("loss")?, self.step)? / answers as f64;
            report.correct += answer.correct(tested)?;
            seconds += reported;
        }
        Ok(TestReport { seconds: Some(seconds), ..report })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.tensors(&Question::Weights { network: self.network }).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.tensors(&Question::Gradients { network: self.network }).await
    }

    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>> {
        let question = Question::Logits { network: self.network, rows: answers };
        let answer = self.conversation.ask(&question, Vec::new()).await?;
        let rows = (answers as usize).min(answer.payload.len() / (4 * self.classes));
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

/// Returns the sizes of a full batch and of the last one, if that differs.
fn distinct(sizes: [u32; 2]) -> Vec<u32> {
    let mut sizes = Vec::from(sizes);
    sizes.retain(|&size| size > 0);
    sizes.dedup();
    sizes
}
