use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde_json::json;
use shaders::reference::pcg4d::uniform;

use super::*;
use crate::measure::timed_steps;
use crate::model::{Activation, Initializer, Layer, Model, Weights};
use crate::random::stream;
use crate::testing::{Standstill, file_batches, remainder_byte, samples};
use crate::train::tests::FakeClock;
use crate::trainer::EvaluationSet;
use crate::training::{Loss, Optimizer, Rule};
use results::FailureCause;

/// Marks a field missing from an answer.
const MISSING: &str = "(missing)";

/// Records questions and answers by the protocol, except for changed fields. Its clock advances by the `clock` or
/// `seconds` of the answers.
struct Fake {
    asked: RefCell<Vec<Message>>,
    changes: RefCell<Vec<(&'static str, Value)>>,
    now: Rc<Cell<f64>>,
}

impl Fake {
    fn new(changes: Vec<(&'static str, Value)>) -> Rc<Self> {
        Rc::new(Self { asked: RefCell::default(), changes: RefCell::new(changes), now: Rc::default() })
    }

    fn asked(&self, message: &str) -> Vec<Message> {
        self.asked.borrow().iter().filter(|asked| asked.header["message"] == message).cloned().collect()
    }
}

#[async_trait(?Send)]
impl Program for Fake {
    fn send(&self, message: Message) -> Result<()> {
        self.asked.borrow_mut().push(message);
        Ok(())
    }

    async fn receive(&self) -> Result<Message> {
        let asked = self.asked.borrow().last().unwrap().header.clone();
        let (message, steps) = (asked["message"].as_str().unwrap(), asked["steps"].as_array().map_or(0, Vec::len));
        let mut header = match message {
            "hello" => {
                json!({"protocol": 1, "framework": "none", "version": "1", "device": "paper", "device_kind": "cpu"})
            }
            "train" => json!({"losses": vec![0.5; steps], "correct": 3, "seconds": 0.25}),
            "evaluate" => json!({"loss": 50.0, "correct": 60, "seconds": 0.5}),
            _ => json!({}),
        };
        let answer = header.as_object_mut().unwrap();
        for (_, fields) in self.changes.borrow().iter().filter(|(changed, _)| *changed == message) {
            answer.extend(fields.as_object().unwrap().clone());
        }
        answer.retain(|_, value| value != MISSING);
        let seconds = answer.get("clock").or(answer.get("seconds")).and_then(Value::as_f64);
        self.now.set(self.now.get() + seconds.unwrap_or(0.0));
        Ok(Message { header, payload: Vec::new() })
    }
}

/// Batches have 10 of 25 samples, so the last batch of an epoch has 5.
fn job(workload: &str) -> TrainingJob {
    let workload = crate::workload(workload).unwrap();
    workload.job(samples(workload.data_set, [25, 120], remainder_byte), file_batches(25, 10), 7)
}

fn build(program: &Rc<Fake>, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
    pollster::block_on(async { meet(program, None).await?.build(job).await })
}

async fn meet(program: &Rc<Fake>, layout: Option<Layout>) -> Result<ExternalBackend> {
    let clock = Rc::new(FakeClock(Rc::clone(&program.now)));
    let program: Rc<dyn Program> = Rc::<Fake>::clone(program);
    ExternalBackend::meet("on-paper", program, clock, Precision::F32, layout).await
}

#[test]
fn a_program_gets_layers_weights_batches_and_masks() {
    let program = Fake::new(vec![]);
    let job = job("keras-mnist-mlp");
    let mut trainer = build(&program, &job).unwrap();
    let report = pollster::block_on(trainer.train_steps(3)).unwrap();
    assert_eq!((report.losses, report.correct, report.samples), (vec![0.5; 3], 3, 25));
    let told = &program.asked("build")[0];
    assert_eq!(told.header["model"]["nodes"][0]["layer"]["dense"]["units"], 512);
    assert_eq!(told.header["batch_sizes"], json!([10, 5]));
    assert_eq!(told.header["test_batch_sizes"], json!([100, 20]));
    assert_eq!(told.header["dropouts"], json!([{"node": 1, "features": 512}, {"node": 3, "features": 512}]));
    let weights: Vec<u8> = job.initial_weights().unwrap().concat().iter().flat_map(|w| w.to_le_bytes()).collect();
    assert!(told.payload == weights, "start values follow the layers");

    let steps = &program.asked("train")[0];
    let rows: Vec<u64> = (0..3).map(|step| steps.header["steps"][step]["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [10, 10, 5]);
    assert_eq!(steps.payload.len(), 25 * (4 * 784 + 4 + 2 * 512));
    // Pixels are divided by 255 and followed by labels.
    let float = |at: usize| f32::from_le_bytes(steps.payload[at..at + 4].try_into().unwrap());
    assert_eq!((float(0), float(4 * 250), float(4 * 251)), (0.0, 250.0 / 255.0, 0.0));
    assert_eq!(steps.payload[10 * 4 * 784 + 4..][..4], 1u32.to_le_bytes());
    // Second mask of the second step.
    let mask = &steps.payload[10 * (4 * 784 + 4 + 2 * 512) + 10 * (4 * 784 + 4 + 512)..][..10 * 512];
    let expected: Vec<u8> = (0..10 * 512).map(|at| u8::from(uniform(at, stream::DROPOUT + 1, 1, 7) >= 0.2)).collect();
    assert!(mask == expected, "what survives is drawn as everywhere");
    drop(trainer);
    assert_eq!(program.asked("forget").len(), 1);
}

#[test]
fn every_character_of_a_window_has_a_label() {
    const CHARACTERS: usize = 16;
    let workload = crate::workload("gpt-small").unwrap().reduced();
    let data = samples(workload.data_set, [25, 120], remainder_byte);
    let job = workload.job(data, file_batches(25, 10), 7);
    let program = Fake::new(vec![("train", json!({"correct": 10 * CHARACTERS}))]);
    let mut trainer = build(&program, &job).unwrap();
    assert_eq!(program.asked("build")[0].header["positions"], CHARACTERS);
    let report = pollster::block_on(trainer.train_steps(1)).unwrap();
    assert_eq!((report.correct, report.samples), (160, 10));

    let payload = &program.asked("train")[0].payload;
    let dropouts = program.asked("build")[0].header["dropouts"].as_array().unwrap().len();
    assert_eq!(payload.len(), 10 * (4 * CHARACTERS + 4 * CHARACTERS + dropouts * CHARACTERS * 48));
    let (numbers, _) = payload.as_chunks::<4>();
    let characters: Vec<f32> = numbers.iter().take(10 * CHARACTERS).map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let labels: Vec<u32> = numbers[10 * CHARACTERS..].iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    assert_eq!(characters[..3], [0.0, 1.0, 2.0]);
    assert_eq!(labels[..3], [1, 2, 3]);
    assert_eq!(labels[CHARACTERS - 1] as f32, characters[CHARACTERS], "the last one's label begins the next window");

    let tested = pollster::block_on(trainer.evaluate(EvaluationSet::Test, 120)).unwrap();
    assert_eq!((tested.loss, tested.correct, tested.answers), (50.0 / 1920.0, 60, 1920));
    program.changes.replace(vec![("train", json!({"correct": 10 * CHARACTERS + 1}))]);
    let error = pollster::block_on(trainer.train_steps(1)).unwrap_err().to_string();
    assert!(error.contains("`correct` of its answer is 161, but the message has 160 labels"), "{error}");
}

#[test]
fn windows_and_tests_have_the_reported_times() {
    let mut trainer = build(&Fake::new(vec![]), &job("keras-mnist-mlp")).unwrap();
    let (_, window) = pollster::block_on(timed_steps(trainer.as_mut(), 2, &Standstill)).unwrap();
    assert_eq!(window.seconds, 0.25);
    let tested = pollster::block_on(trainer.evaluate(EvaluationSet::Test, 120)).unwrap();
    assert_eq!((tested.loss, tested.correct, tested.seconds), (50.0 / 120.0, 60, Some(0.5)));
}

#[test]
fn many_steps_travel_in_several_messages() {
    let program = Fake::new(vec![]);
    let mut trainer = build(&program, &job("keras-mnist-cnn")).unwrap();
    let report = pollster::block_on(trainer.train_steps(300)).unwrap();
    assert_eq!(report.losses.len(), 300);
    let sizes: Vec<usize> = program.asked("train").iter().map(|message| message.payload.len()).collect();
    assert!(sizes.len() > 1 && sizes.iter().all(|&bytes| bytes <= 32 << 20), "{sizes:?}");
    assert_eq!(report.seconds, Some(0.25 * sizes.len() as f64));
}

#[test]
fn refusals_of_a_program_do_not_end_the_run() {
    let refused = |message, fields| ten_steps_and_tests(vec![(message, fields)]).unwrap_err();
    let lacking = refused("build", json!({"error": "no dense\nlayers", "cause": "unsupported"}));
    assert_eq!(lacking.failure_of_workload(), Some(FailureCause::Unsupported));
    assert!(lacking.to_string().contains("on-paper") && lacking.to_string().contains("no dense layers"), "{lacking}");
    let full = refused("train", json!({"error": "full", "cause": "out_of_memory"}));
    assert_eq!(full.failure_of_workload(), Some(FailureCause::OutOfMemory));
}

fn ten_steps_and_tests(changes: Vec<(&'static str, Value)>) -> Result<f64> {
    let mut trainer = build(&Fake::new(changes), &job("keras-mnist-mlp"))?;
    pollster::block_on(async {
        let mut seconds = 0.0;
        for _ in 0..10 {
            seconds += trainer.train_steps(1).await?.seconds.unwrap();
            trainer.evaluate(EvaluationSet::Test, 120).await?;
        }
        Ok(seconds)
    })
}

#[test]
fn accepts_clock_without_preparation_link_and_scheduling() {
    let cases = [
        ("train", json!({"seconds": 0.95, "clock": 1.0}), 9.5),
        ("train", json!({"seconds": 0.1, "preparing_seconds": 0.9, "clock": 1.0}), 1.0),
        ("train", json!({"seconds": 0.001, "clock": 0.005}), 0.01),
    ];
    let cases = cases.map(|(message, fields, expected)| (vec![(message, fields)], expected));
    let with_slow_link = vec![("hello", json!({"clock": 0.5})), ("train", json!({"seconds": 1.0, "clock": 1.5}))];
    for (changes, expected) in cases.into_iter().chain([(with_slow_link, 10.0)]) {
        let seconds = ten_steps_and_tests(changes).unwrap();
        assert!((seconds - expected).abs() < 1e-9, "{seconds} instead of {expected}");
    }
}

#[test]
fn wrong_answers_end_the_run_and_name_message_and_field() {
    let too_late = "s around them without the link: it probably reads its clock without waiting for asynchronous work";
    let too_much = "s around them: it may not report seconds, or may count work twice";
    let cases = [
        ("hello", json!({"version": 2}), ["`hello`, the field `version` of its answer cannot be read", ""]),
        ("hello", json!({"protocol": 2}), ["`hello`, the field `protocol` of its answer is 2, but must be 1", ""]),
        ("build", json!({"settings": "fast"}), ["`build`, the field `settings`", ""]),
        (
            "build",
            json!({"compiling_seconds": 60.0, "clock": 1.0}),
            ["`build`, the field `compiling_seconds`", "is 60.000, but the clock shows 1.000 s"],
        ),
        (
            "train",
            json!({"losses": [null]}),
            ["`train`, the field `losses[0]`", "null at step 0, but must be a finite"],
        ),
        ("train", json!({"losses": ["NaN"]}), ["the field `losses[0]` of its answer is \"NaN\"", ""]),
        ("train", json!({"losses": 0.5}), ["`train`, the field `losses` of its answer cannot be read", ""]),
        ("train", json!({"losses": [0.5, 0.5]}), ["the field `losses` of its answer has 2 numbers for 1 steps", ""]),
        ("train", json!({"losses": MISSING, "loss": 0.5}), ["the field `losses` of its answer is missing", ""]),
        ("train", json!({"correct": 11}), ["`correct` of its answer is 11, but the message has 10", ""]),
        ("train", json!({"seconds": -1.0}), ["`train`, the field `seconds` of its answer is -1", ""]),
        ("train", json!({"seconds": 0.0}), ["the field `seconds` of its answer must be a number above 0", ""]),
        ("train", json!({"seconds": null}), ["the field `seconds` of its answer must be a number above 0", ""]),
        ("train", json!({"seconds": 0.01, "clock": 1.0}), ["`train`, its answers report 0.010 s in total", too_late]),
        ("train", json!({"seconds": 0.85, "clock": 1.0}), ["`train`, its answers report", too_late]),
        (
            "train",
            json!({"seconds": 1000.0, "clock": 1.0}),
            ["report 1000.000 s in total, but the clock shows", too_much],
        ),
        (
            "train",
            json!({"seconds": 0.9, "preparing_seconds": 0.5, "clock": 1.0}),
            ["`train`, its answers report", too_much],
        ),
        ("evaluate", json!({"loss": "high"}), ["`evaluate`, the field `loss` of its answer is \"high\"", ""]),
        ("evaluate", json!({"loss": MISSING}), ["`evaluate`, the field `loss` of its answer is missing", ""]),
        ("evaluate", json!({"seconds": 0.1, "clock": 1.0}), ["`evaluate`, its answers report 0.100 s", too_late]),
    ];
    let assert_ends_run = |error: EngineError, parts: &[&str]| {
        assert!(matches!(error, EngineError::ProgramFailed { .. }) && error.failure_of_workload().is_none(), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("after the message `") && parts.iter().all(|part| text.contains(part)),
            "{parts:?}: {text}"
        );
    };
    for (message, fields, parts) in cases {
        assert_ends_run(ten_steps_and_tests(vec![(message, fields)]).unwrap_err(), &parts);
    }
    let mut trainer = build(&Fake::new(vec![]), &job("keras-mnist-mlp")).unwrap();
    let error = pollster::block_on(trainer.weights()).unwrap_err();
    assert_ends_run(error, &["after the message `weights`, the field `bytes` of its answer is 0"]);
}

#[test]
fn null_loss_after_the_first_step_is_divergence() {
    let program = Fake::new(vec![]);
    let mut trainer = build(&program, &job("keras-mnist-mlp")).unwrap();
    let mut loss = || pollster::block_on(trainer.train_steps(1)).unwrap().losses[0];
    assert_eq!(loss(), 0.5);
    program.changes.replace(vec![("train", json!({"losses": [null]}))]);
    assert!(loss().is_nan());
}

/// Expects the questions of a transcript and returns its answers with payloads of zeros.
struct Transcript(RefCell<VecDeque<Value>>);

impl Transcript {
    fn next(&self) -> Message {
        let mut header = self.0.borrow_mut().pop_front().expect("the transcript goes on");
        let bytes = header.as_object_mut().unwrap().remove("bytes").unwrap();
        Message { header, payload: vec![0; usize::try_from(bytes.as_u64().unwrap()).unwrap()] }
    }
}

#[async_trait(?Send)]
impl Program for Transcript {
    fn send(&self, message: Message) -> Result<()> {
        let expected = self.next();
        assert_eq!((message.header, message.payload.len()), (expected.header, expected.payload.len()));
        Ok(())
    }

    async fn receive(&self) -> Result<Message> {
        Ok(self.next())
    }
}

#[test]
fn documented_transcript_is_what_a_program_gets() {
    let documented = include_str!("../../../../docs/EXTERNAL.md").split_once("```json\n").unwrap().1;
    let messages = serde_json::Deserializer::from_str(documented.split_once("```").unwrap().0).into_iter::<Value>();
    let transcript = Rc::new(Transcript(RefCell::new(messages.map(Result::unwrap).collect())));
    let mut job = job("keras-mnist-mlp");
    let weights = Weights::new(Initializer::GlorotUniform);
    let dense = |units, activation| Layer::Dense { units, activation, weights };
    let layers = vec![dense(8, Activation::Relu), Layer::Dropout { rate: 0.5 }, dense(10, Activation::Identity)];
    job.model = Model::sequence("tiny", job.model.input, layers);
    job.batches.batch_size = 2;
    job.loss = Loss::default();
    job.optimizer = Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.01);
    pollster::block_on(async {
        let program: Rc<dyn Program> = Rc::<Transcript>::clone(&transcript);
        let backend = ExternalBackend::meet("tiny", program, Rc::new(Standstill), Precision::F32, None).await;
        let mut trainer = backend.unwrap().build(&job).await.unwrap();
        trainer.train_steps(1).await.unwrap();
        trainer.logits(2).await.unwrap();
        trainer.gradients().await.unwrap();
        trainer.evaluate(EvaluationSet::Test, 2).await.unwrap();
        trainer.weights().await.unwrap();
    });
    assert!(transcript.0.borrow().is_empty());
}

#[test]
fn a_program_must_confirm_the_requested_layout() {
    let job = job("keras-mnist-mlp");
    let built = |program: &Rc<Fake>, layout| {
        pollster::block_on(async {
            let backend = meet(program, Some(layout)).await?;
            let trainer = backend.build(&job).await?;
            Ok::<_, EngineError>(trainer.facts().layout)
        })
    };
    let program = Fake::new(vec![("build", json!({"layout": "nchw"}))]);
    let layout = built(&program, Layout::Nchw).unwrap();
    assert_eq!(program.asked("build")[0].header["layout"], "nchw");
    assert_eq!(layout, Some(Layout::Nchw));
    let error = built(&program, Layout::Nhwc).unwrap_err().to_string();
    assert!(error.ends_with("nhwc was requested, but it has nchw"), "{error}");
    let error = built(&Fake::new(vec![]), Layout::Nchw).unwrap_err().to_string();
    assert!(error.ends_with("nchw was requested, but it reports no layout"), "{error}");
    // Without a request, the program reports its layout.
    let layout = build(&program, &job).unwrap().facts().layout;
    assert_eq!(layout, Some(Layout::Nchw));
    assert!(program.asked("build").last().unwrap().header.get("layout").is_none());
}

#[test]
fn averages_of_weights_are_not_in_the_protocol() {
    let averaged: Vec<_> = crate::WORKLOADS.iter().map(|make| make()).filter(|of| of.average.is_some()).collect();
    for workload in &averaged {
        let error = build(&Fake::new(vec![]), &job(workload.name)).err().unwrap();
        assert_eq!(error.failure_of_workload(), Some(FailureCause::Unsupported), "{error}");
    }
    assert!(!averaged.is_empty());
}

#[test]
fn names_are_short_words_and_none_of_ours() {
    assert_eq!(checked_name("keras-jax").as_deref(), Ok("keras-jax"));
    for name in ["", "Keras", "a b", "wgsl", "all", "burn-flex"] {
        assert!(checked_name(name).is_err(), "{name}");
    }
}
