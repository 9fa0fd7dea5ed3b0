//! The open class: networks from files, ranked by the loss that the server computes.

use engine::{
    Activation, Batching, Initializer, KernelSize, Layer, Model, Multipliers, OPEN, Padding, SampleOrder, Shape,
    Weights, Workload,
};
use results::Goal;
use results::api::{OpenTable, StartRun};
use serde_json::{Value, json};

use crate::support::pretended::{Tricks, train};
use crate::support::*;

const TABLE: &str = "/api/v1/open?data_set=moby-dick";
/// The layer that a test replaces.
const ATTENTION: usize = 4;

/// Returns a language model of one attention layer, which plain loops train in seconds.
fn tiny() -> Workload {
    const NAME: &str = "tiny";
    const WINDOW: u32 = 16;
    let initializer = Initializer::GlorotUniform;
    let convolution = |filters| Layer::Conv2d {
        filters,
        size: KernelSize::Square(1),
        stride: 1,
        padding: Padding::Valid,
        activation: Activation::Identity,
        weights: Weights::new(initializer).without_bias(),
    };
    let (vocabulary, units) = (80, 16);
    let layers = vec![
        Layer::Embedding { vocabulary, units, first: 0, count: WINDOW, zero_padding: false, initializer },
        Layer::PositionEmbedding { initializer },
        Layer::LayerNorm { epsilon: 1e-5, scale: Multipliers::default(), bias: None },
        convolution(3 * units),
        Layer::Attention { heads: 2, causal: true },
        convolution(units),
        Layer::WordScores { vocabulary, initializer },
    ];
    Workload {
        name: NAME,
        title: "A tiny model",
        model: Model::sequence(NAME, Shape::new(1, WINDOW, 1), layers),
        reduced: None,
        batch_size: 4,
        order: SampleOrder::Drawn { per_epoch: 40 },
        batching: Batching::ShortLast,
        published_epochs: 2,
        target: Goal::Loss(0.0),
        ..engine::workload("gpt-nano").unwrap()
    }
}

fn network() -> Value {
    tiny().described().unwrap()
}

fn start(network: Value) -> StartRun {
    StartRun { network: Some(network), ..record::start_of(&OPEN) }
}

fn open(tricks: Tricks) -> Tricks {
    Tricks { suite: &OPEN, network: Some(tiny), ..tricks }
}

/// Trains the network, and returns the run with its record.
fn trained(server: &TestServer, tricks: Tricks) -> (StartedRun, RunRecord) {
    let started = server.begin_suite(&start(network()));
    let (messages, record) = train(server, &started, open(tricks));
    let record = Rehearsal { messages, record }.record_of(&started);
    (started, record)
}

#[test]
fn trained_network_is_listed_with_the_loss_of_the_server() {
    let server = rehearsal::server();
    let (started, record) = trained(&server, Tricks::default());
    let mut other = record.clone();
    other.workloads[0].network.as_mut().unwrap()["optimizer"]["learning_rate"] = 0.5.into();
    server.upload(&started.run_id, &other).assert_refused(422, "other_network", "workloads[0].network");
    let verdict = verdict_on(&server, &started, server.upload(&started.run_id, &record));
    assert_tier(&verdict, Tier::Proven, "");

    let table: OpenTable = server.read(TABLE);
    let [entry] = &table.entries[..] else { panic!("{table:?}") };
    let of = &record.workloads[0];
    let claimed = of.evaluations.last().unwrap().loss;
    assert!((entry.loss / claimed - 1.0).abs() < 1e-5, "{entry:?} {claimed}");
    assert_eq!((&entry.run_id, entry.title.as_str()), (&started.run_id, "A tiny model"));
    assert_eq!(entry.parameters, of.settings.parameters);
    assert!(entry.training_seconds >= of.summary.training_seconds, "{entry:?}");
    let row = server.list("?workload=tiny").rows.remove(0);
    assert_eq!((row.summary.test_loss, row.standard, row.ranked), (Some(entry.loss), false, false));
    assert_eq!(server.list("?ranked=true").total, 0);
    let elsewhere: OpenTable = server.read("/api/v1/open?data_set=mnist");
    assert!(elsewhere.entries.is_empty());
}

#[test]
fn weights_of_another_recipe_are_flagged_and_not_listed() {
    let server = rehearsal::server();
    let faster = Tricks { job: |job| job.optimizer.learning_rate *= 4.0, ..Tricks::default() };
    let (started, record) = trained(&server, faster);
    let verdict = verdict_on(&server, &started, server.upload(&started.run_id, &record));
    assert_tier(&verdict, Tier::Flagged, "tiny: recomputed from");
    assert!(server.read::<OpenTable>(TABLE).entries.is_empty());
}

#[test]
fn networks_that_the_server_cannot_prove_are_refused() {
    let server = TestServer::start();
    let refused = |start: &StartRun, code, field: &str| {
        server.json("POST", "/api/v1/runs", start).assert_refused(422, code, field);
    };
    let mut sees_all = network();
    sees_all["model"]["nodes"][ATTENTION]["layer"] = json!({ "attention": { "heads": 2, "causal": false } });
    refused(&start(sees_all), "sees_later_characters", "network.model.nodes[4]");
    let small = engine::workload("gpt-small").unwrap();
    let large = Workload { name: "large", model: Model { name: "large", ..small.model.clone() }, ..small };
    refused(&start(large.described().unwrap()), "network_too_large", "network.model");
    refused(&record::start_of(&OPEN), "missing_network", "network");
    refused(&StartRun { network: Some(network()), ..record::start() }, "network_of_a_file", "network");
}
