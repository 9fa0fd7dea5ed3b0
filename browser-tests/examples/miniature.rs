//! Recorder for the animation on the start page, from real runs in Chromium.
//!
//! `cargo run --release -p browser-tests --example miniature` writes two files. `app/miniature.png` has test digits
//! side by side. `app/miniature.json` has their labels, the answers of a small network while it learns, and the score
//! of a standard run. The learning rate is low, so that people can watch the network learn.

use std::path::Path;
use std::time::Duration;

use browser_tests::{Page, Setup, drive};
use serde_json::{Value, json};

const SLOW_RUN: &str = "/?workload=keras-mnist-mlp&batch=16&learning-rate=0.01&seconds=60";
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Height of a digit in pixels.
const HEIGHT: usize = 28;
/// Script that returns each digit's label and answer, from its text for screen readers.
const ANSWERS: &str =
    "() => [...document.querySelectorAll('.examples img')].map((image) => image.alt.match(/\\d/g).map(Number))";

fn main() {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app");
    drive(Setup::USUAL, async |page| {
        let (sprite, labels, answers) = record(page).await;
        std::fs::write(app.join("miniature.png"), sprite).expect("the file can be written");
        page.train("/").await;
        let score = page.text("[data-figure=score] strong").await.expect("a whole suite has a score");
        let score: f64 = score.replace(',', "").parse().expect("a number");
        let recording = json!({
            "labels": labels,
            "answers": answers,
            "score": score,
            "device": "SwiftShader",
        });
        std::fs::write(app.join("miniature.json"), recording.to_string() + "\n").expect("the file can be written");
    });
}

/// Returns the sprite, the labels and the answers of a slow run, without repeated answers.
async fn record(page: &impl Page) -> (Vec<u8>, Value, Vec<Value>) {
    page.start(SLOW_RUN).await;
    page.wait_for_figure("step", 1.0).await;
    let levels: Vec<u8> = serde_json::from_value(page.ask(include_str!("sprite.js")).await).expect("gray levels");
    let sprite = encode_png(&levels);
    let (mut labels, mut answers) = (Value::Null, Vec::new());
    loop {
        let shown = page.ask(ANSWERS).await;
        let pairs: Vec<Vec<u16>> = serde_json::from_value(shown).unwrap_or_default();
        if pairs.is_empty() {
            return (sprite, labels, answers);
        }
        // The text of a correct answer has only the label.
        labels = json!(pairs.iter().map(|pair| pair[0]).collect::<Vec<_>>());
        let now = json!(pairs.iter().map(|pair| pair[pair.len() - 1]).collect::<Vec<_>>());
        if answers.last() != Some(&now) {
            answers.push(now);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Encodes gray levels as PNG. A canvas writes colors, which take twice the space.
fn encode_png(levels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let [width, height] = [levels.len() / HEIGHT, HEIGHT].map(|side| u32::try_from(side).expect("a small picture"));
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect("memory");
    writer.write_image_data(levels).expect("memory");
    drop(writer);
    file
}
