//! Animation of a network that learns, recorded from a real run by `browser-tests/examples/miniature.rs`.

use std::sync::LazyLock;

use gloo_timers::callback::Interval;
use leptos::prelude::*;
use serde::Deserialize;

use crate::{json, platform, t, text};

/// Sprite with the test digits side by side.
const DIGITS: &[u8] = include_bytes!("../../miniature.png");
const FRAME_MILLISECONDS: u32 = 450;
/// Number of extra frames that show the last answers before the animation repeats.
const REST_FRAMES: usize = 8;

#[derive(Deserialize)]
struct RecordedRun {
    labels: Vec<u16>,
    /// Answers to all digits, one list per frame.
    answers: Vec<Vec<u16>>,
    /// Score of a standard run, in GFLOP/s.
    score: f64,
    device: String,
}

static RECORDING: LazyLock<RecordedRun> =
    LazyLock::new(|| json::parse(include_str!("../../miniature.json")).expect("the file is checked in"));

/// Animation, or its last frame for visitors who prefer reduced motion.
pub(super) fn miniature() -> impl IntoView {
    let RecordedRun { labels, answers, score, device } = &*RECORDING;
    let last = answers.len() - 1;
    let frame = RwSignal::new(last);
    if !platform::prefers_less_motion() {
        frame.set(0);
        let next = move || frame.update(|frame| *frame = (*frame + 1) % (answers.len() + REST_FRAMES));
        // It ends with the view.
        StoredValue::new_local(Interval::new(FRAME_MILLISECONDS, next));
    }
    let now = move || &answers[frame.get().min(last)];
    // Set by script: the page's policy forbids style attributes.
    let sprite = format!("url({})", platform::data_address("image/png", DIGITS));
    let digit = |(place, label): (usize, &'static u16)| {
        let is_right = move || now()[place] == *label;
        let offset = format!("{}%", 100 * place / (labels.len() - 1).max(1));
        view! {
            <li class:right=is_right class:wrong=move || !is_right()>
                <span class="digit" style:background-image=sprite.clone() style:background-position-x=offset></span>
                <span><b>{move || if is_right() { "✓" } else { "✗" }}</b>" "{move || now()[place]}</span>
            </li>
        }
    };
    let count = move || now().iter().zip(labels).filter(|(answer, label)| answer == label).count();
    view! {
        <figure class="miniature examples">
            <ul aria-hidden="true">{labels.iter().enumerate().map(digit).collect_view()}</ul>
            <figcaption>
                <span aria-hidden="true">{move || t!(start_right, right = count(), all = labels.len())}</span>
                <span class="note">{t!(start_sample, score = text::score(*score), device)}</span>
            </figcaption>
        </figure>
    }
}
