//! A run that really trains, with the engine's plain loops, while a clock that only pretends makes it last as long as on a
//! slow GPU. It is made once; tests play it to a server, as it was or bent.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use engine::backends::{REFERENCE, open};
use engine::{
    AdapterChoice, Backend, Clock, DataError, DataSet, DataSetDefinition, DataSource, Edges, EngineError,
    EvaluationSet, Event, Examiner, NoMeter, Observer, RunRequest, Standard, StepReport, TestReport, Trainer,
    TrainingJob, Witness,
};
use leaderboard::{Protection, ProxyHeader};
use results::api::{AcceptedRun, CheckpointAnswer, StartedRun, TellCheckpoint, Tier, Verdict};
use results::{Adapter, Checkpoint, Precision, RunRecord, measured_sha256, weights_sha256};
use serde::{Deserialize, Serialize};

use super::kept::computed_once;
use super::{Answer, Client, TestServer, record};

/// The seed that the servers of these tests give.
pub(crate) const SEED: u32 = 20_261_123;
const STEP_SECONDS: f64 = 1.4;
const TEST_SECONDS: f64 = 0.5;
/// Every fourth test sample is classified, in 3 and 12 GFLOP. The standard deviation of the accuracy p is then
/// √(¾p(1 − p)/2500), 8 % of what `examine_accuracy` allows.
const TESTED_EVERY: u32 = 4;

/// Address of the honest client, in a /24 without attackers.
pub(crate) const HONEST: &str = "198.51.100.1";

/// Everything that a client sent, and when.
#[derive(Clone)]
pub(crate) struct Rehearsal {
    pub(crate) told: Vec<Message>,
    pub(crate) record: RunRecord,
}

/// A checkpoint, and the weights that are sent if they are asked for.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Message {
    /// Seconds since the run began.
    pub(crate) at: f64,
    pub(crate) workload: String,
    pub(crate) number: u32,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) last: bool,
    /// Not part of the JSON, in which megabytes of numbers are slow.
    #[serde(skip)]
    pub(crate) weights: Arc<Vec<u8>>,
}

/// The folder of the real data sets.
pub(crate) fn data_folder() -> PathBuf {
    std::env::var_os("GRADMARK_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data"), PathBuf::from)
}

/// A server that gives [`SEED`] and has the data sets.
pub(crate) fn server() -> TestServer {
    TestServer::of_rehearsals(SEED, data_folder())
}

/// Returns [`server`] with these limits and budgets, and a proxy in front that says whose request it is.
pub(crate) fn server_behind_a_proxy(protection: Protection) -> TestServer {
    let protection = Protection { trusted_proxy_header: Some(ProxyHeader::XForwardedFor), ..protection };
    TestServer::of_rehearsals_protected_by(SEED, data_folder(), protection)
}

/// Plays [`honest`] to a server behind a proxy, as a client at `address`, and asserts that the run is proven. Works once per
/// server, because a second run would have the same record.
#[track_caller]
pub(crate) fn prove_honest_run(server: &TestServer, address: &'static str) {
    let client = server.seen_at(address);
    let (started, answer) = honest().play_as(&client, server);
    assert_proven(&client, &started, &answer);
}

#[track_caller]
pub(super) fn assert_proven(client: &Client, started: &StartedRun, uploaded: &Answer) {
    assert_eq!(uploaded.status, 201, "{}", uploaded.text());
    let verdict = client.verdict_of(&started.run_id);
    assert_eq!(verdict.tier, Tier::Proven, "{:?}", verdict.notes);
}

/// An honest run of the quick suite from [`SEED`].
pub(crate) fn honest() -> Rehearsal {
    static HONEST: LazyLock<Rehearsal> = LazyLock::new(|| kept("rehearsal", SEED));
    HONEST.clone()
}

/// The same from another seed, which the server does not give.
pub(crate) fn of_another_seed() -> Rehearsal {
    static OTHER: LazyLock<Rehearsal> = LazyLock::new(|| kept("rehearsal-of-another-seed", SEED + 1));
    OTHER.clone()
}

/// Weights of [`SEED`]'s network after so many steps, of which the rehearsal has more than twenty and fewer than forty.
pub(crate) fn weights_after(workload: &str, steps: u32) -> Arc<Vec<u8>> {
    let train = || {
        let standard = Standard::of(&engine::SUITES[0], workload, SEED).unwrap();
        pollster::block_on(async {
            let data = Files::default().load(engine::data_set("mnist").unwrap()).await.unwrap();
            let mut trainer = reference().await.build(&standard.job(data, SEED)).await.unwrap();
            trainer.train_steps(steps).await.unwrap();
            results::weights_bytes(&trainer.weights().await.unwrap())
        })
    };
    Arc::new(computed_once(&format!("weights-{workload}-{steps}"), &std::env::current_exe().unwrap(), train))
}

/// A run from `seed`, which is trained once and then read from a file.
fn kept(name: &str, seed: u32) -> Rehearsal {
    let program = std::env::current_exe().unwrap();
    Rehearsal::from_bytes(&computed_once(name, &program, || rehearse(seed).to_bytes()))
}

fn rehearse(seed: u32) -> Rehearsal {
    let model = record::unregistered(seed);
    let clock = Rc::new(PretendedClock(Cell::new(0.0)));
    let backend = Pretended { clock: Rc::clone(&clock), adapter: model.device.adapter.clone() };
    let suite = &engine::SUITES[0];
    let mut witness = Tape { clock: Rc::clone(&clock), told: Vec::new() };
    let request = RunRequest {
        suite,
        workloads: suite.workloads.iter().map(|name| engine::workload(name).unwrap()).collect(),
        seed,
        batch_size: None,
        learning_rate: None,
        limit: None,
        target_accuracy: None,
        registration: None,
        provenance: model.provenance,
        requested_adapter: model.device.requested_adapter,
        requested_backend: model.device.requested_backend,
        claimed_name: None,
    };
    let mut edges = Edges {
        data: &mut Files::default(),
        observer: &mut Nobody,
        clock: clock.as_ref(),
        meter: &mut NoMeter,
        witness: Some(&mut witness),
    };
    let record = pollster::block_on(engine::run(&request, &backend, &mut edges)).unwrap();
    assert!(record.workloads.iter().all(|workload| workload.outcome == results::Outcome::Completed));
    Rehearsal { told: witness.told, record }
}

impl Rehearsal {
    /// The length of some JSON, the JSON, and then the weights of all messages.
    fn to_bytes(&self) -> Vec<u8> {
        let lengths: Vec<usize> = self.told.iter().map(|message| message.weights.len()).collect();
        let json = serde_json::to_vec(&(&self.record, &self.told, lengths)).unwrap();
        let mut bytes = u64::try_from(json.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend_from_slice(&json);
        self.told.iter().for_each(|message| bytes.extend_from_slice(&message.weights));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (length, rest) = bytes.split_first_chunk().unwrap();
        let (json, mut rest) = rest.split_at(usize::try_from(u64::from_le_bytes(*length)).unwrap());
        let (record, mut told, lengths): (_, Vec<Message>, Vec<usize>) = serde_json::from_slice(json).unwrap();
        for (message, length) in told.iter_mut().zip(lengths) {
            let weights;
            (weights, rest) = rest.split_at(length);
            message.weights = Arc::new(weights.to_vec());
        }
        Self { told, record }
    }

    /// Tells everything to the server in time and hands the record in.
    pub(crate) fn play(&self, server: &TestServer) -> (StartedRun, Answer) {
        self.play_as(server, server)
    }

    /// The same as one of the server's clients.
    pub(crate) fn play_as(&self, client: &Client, server: &TestServer) -> (StartedRun, Answer) {
        let started = client.begin();
        self.tell_all_as(client, server, &started);
        let answer = client.upload(&started.run_id, &self.record_of(&started));
        (started, answer)
    }

    pub(crate) fn tell_all(&self, server: &TestServer, started: &StartedRun) {
        self.tell_all_as(server, server, started);
    }

    fn tell_all_as(&self, client: &Client, server: &TestServer, started: &StartedRun) {
        let mut now = 0.0;
        for message in &self.told {
            server.pass(message.at - now);
            now = message.at;
            message.deliver(client, started);
        }
        server.pass((self.record.provenance.wall_seconds - now).max(0.0));
    }

    /// The record with what the server gave the run.
    pub(crate) fn record_of(&self, started: &StartedRun) -> RunRecord {
        RunRecord { run_id: Some(started.run_id.clone()), nonce: Some(started.nonce.clone()), ..self.record.clone() }
    }

    /// Plays it and waits for the verdict on an accepted record.
    pub(crate) fn verdict(&self, server: &TestServer) -> Verdict {
        let (started, answer) = self.play(server);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let accepted: AcceptedRun = answer.parse();
        let at_once = Verdict { tier: accepted.tier, notes: accepted.notes, being_verified: accepted.being_verified };
        if at_once.being_verified { server.verdict_of(&started.run_id) } else { at_once }
    }

    /// Makes what is told fit a record that was changed, as a forger does who changes it while it is made.
    pub(crate) fn commit_again(&mut self) {
        for workload in &mut self.record.workloads {
            let told = self.told.iter_mut().filter(|message| message.workload == workload.workload);
            let mut checkpoints = Vec::new();
            for message in told {
                message.checkpoint.measured_sha256 = measured_sha256(workload, message.checkpoint.step);
                message.checkpoint.weights_sha256 = weights_sha256(&message.weights);
                checkpoints.push(message.checkpoint.clone());
            }
            for (told, kept) in checkpoints.iter_mut().zip(&workload.checkpoints) {
                told.next_loss = kept.next_loss;
            }
            workload.checkpoints = checkpoints;
        }
        record::summarise(&mut self.record);
    }
}

impl Message {
    /// Tells it, and shows its weights if they are asked for.
    pub(super) fn deliver(&self, client: &Client, started: &StartedRun) {
        let answer = self.tell(client, started);
        assert_eq!(answer.status, 200, "{}", answer.text());
        if answer.parse::<CheckpointAnswer>().weights_wanted {
            let shown = self.show(client, started);
            assert_eq!(shown.status, 204, "{}", shown.text());
        }
    }

    pub(crate) fn tell(&self, client: &Client, started: &StartedRun) -> Answer {
        let told = TellCheckpoint::of(&started.nonce, &self.workload, self.number, &self.checkpoint, self.last);
        client.json("POST", &format!("/api/v1/runs/{}/checkpoints", started.run_id), &told)
    }

    pub(crate) fn show(&self, client: &Client, started: &StartedRun) -> Answer {
        let path = format!("/api/v1/runs/{}/weights/{}/{}", started.run_id, self.workload, self.number);
        let bearer = format!("Bearer {}", started.nonce);
        let headers = [("content-type", "application/octet-stream"), ("authorization", bearer.as_str())];
        client.send("PUT", &path, &headers, &self.weights)
    }
}

/// Returns the reference back end. Opened by name, its loops are compiled in the engine, which is optimized more.
async fn reference() -> Box<dyn Backend> {
    open(REFERENCE, &AdapterChoice::Any, Rc::new(PretendedClock(Cell::new(0.0)))).await.unwrap()
}

struct PretendedClock(Cell<f64>);

impl PretendedClock {
    fn pass(&self, seconds: f64) {
        self.0.set(self.0.get() + seconds);
    }
}

impl Clock for PretendedClock {
    fn now_seconds(&self) -> f64 {
        self.0.get()
    }
}

/// The plain loops under another name, in time that is pretended.
struct Pretended {
    clock: Rc<PretendedClock>,
    adapter: Adapter,
}

#[async_trait(?Send)]
impl Backend for Pretended {
    fn name(&self) -> &'static str {
        "wgsl"
    }

    fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    fn precision(&self) -> Precision {
        Precision::F32
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        let trainer = reference().await.build(job).await?;
        Ok(Box::new(PretendedTrainer { clock: Rc::clone(&self.clock), trainer, job: job.clone() }))
    }
}

struct PretendedTrainer {
    clock: Rc<PretendedClock>,
    trainer: Box<dyn Trainer>,
    job: TrainingJob,
}

#[async_trait(?Send)]
impl Trainer for PretendedTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        self.clock.pass(f64::from(steps) * STEP_SECONDS);
        self.trainer.train_steps(steps).await
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.clock.pass(TEST_SECONDS);
        let standard = Standard::of(&engine::SUITES[0], self.job.model.name, self.job.seed).unwrap();
        if samples < standard.test_samples {
            return self.trainer.evaluate(set, samples).await;
        }
        // The trainer itself could only classify the first ones, which are not as difficult as the others.
        let examiner = Examiner::new(&standard, Arc::clone(&self.job.data), self.job.seed);
        let weights = results::weights_bytes(&self.trainer.weights().await?);
        let weights = examiner.read(&weights)?.unwrap();
        let tested: Vec<u32> = (0..samples).step_by(TESTED_EVERY as usize).collect();
        let part = examiner.test(&weights, &tested)?;
        let times = u64::from(TESTED_EVERY);
        Ok(TestReport { correct: part.correct * times, samples: part.samples * times, ..part })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.trainer.weights().await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.trainer.gradients().await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        self.trainer.logits(rows).await
    }

    fn device_memory_bytes(&self) -> u64 {
        self.trainer.device_memory_bytes()
    }
}

/// Keeps all that is told, with all weights, because it is not known yet which will be asked for.
struct Tape {
    clock: Rc<PretendedClock>,
    told: Vec<Message>,
}

#[async_trait(?Send)]
impl Witness for Tape {
    async fn tell(&mut self, workload: &str, number: u32, checkpoint: &Checkpoint, last: bool) -> Result<bool, String> {
        self.told.push(Message {
            at: self.clock.now_seconds(),
            workload: workload.to_owned(),
            number,
            checkpoint: checkpoint.clone(),
            last,
            weights: Arc::default(),
        });
        Ok(true)
    }

    async fn show(&mut self, _workload: &str, _number: u32, weights: Vec<u8>) -> Result<(), String> {
        self.told.last_mut().unwrap().weights = Arc::new(weights);
        self.clock.pass(0.1);
        Ok(())
    }
}

/// The real samples, from the folder where the tests of the engine find them.
#[derive(Default)]
struct Files {
    latest: RefCell<Option<Arc<DataSet>>>,
}

#[async_trait(?Send)]
impl DataSource for Files {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        if let Some(set) = self.latest.borrow().as_ref() {
            return Ok(Arc::clone(set));
        }
        let folder = data_folder();
        let [train, test] = definition.file_names().expect("a suite has files").map(|file| {
            std::fs::read(folder.join(file)).unwrap_or_else(|error| {
                panic!("{file} in {}: {error}; `cargo xtask data` fetches it", folder.display())
            })
        });
        let set = Arc::new(DataSet::from_files(definition, train, test)?);
        *self.latest.borrow_mut() = Some(Arc::clone(&set));
        Ok(set)
    }
}

struct Nobody;

impl Observer<Event> for Nobody {
    fn event(&mut self, _event: &Event) {}

    fn cancelled(&self) -> bool {
        false
    }
}
