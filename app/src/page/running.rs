//! A run in progress.

use leptos::html;
use leptos::prelude::*;

use super::chart::{AccuracyChart, LossChart, RateChart};
use super::examples::ExampleStrip;
use crate::benchmark::{Benchmark, Stage};
use crate::live::LiveWorkload;
use crate::t;
use crate::text;

#[component]
pub(super) fn Running(benchmark: Benchmark) -> impl IntoView {
    let live = benchmark.live;
    let cancel = NodeRef::<html::Button>::new();
    // The button that started the run is gone; the keyboard goes to the one that took its place.
    Effect::new(move |_| {
        if let Some(cancel) = cancel.get() {
            drop(cancel.focus());
        }
    });
    let percent = Memo::new(move |_| live.with(|live| (live.fraction() * 1000.0).floor() / 10.0));
    let workload = Memo::new(move |_| live.with(|live| live.workload.clone()));
    let bundle = Memo::new(move |_| live.with(|live| live.bundle));
    let title =
        move || workload.get().map_or_else(|| t!(running_getting_ready).to_owned(), |workload| workload.title());
    let left = Memo::new(move |_| benchmark.seconds_left().map(|left| t!(running_left, time = text::about(left))));
    let rates = Signal::derive(move || workload.get().map(|w| w.rates).unwrap_or_default());
    let training = Signal::derive(move || workload.get().map(|w| w.training).unwrap_or_default());
    let tests = Signal::derive(move || workload.get().map(|w| w.tests).unwrap_or_default());
    let target = Signal::derive(move || workload.get().map(|w| w.target_accuracy));
    let published = Memo::new(move |_| workload.with(|w| w.as_ref().and_then(LiveWorkload::published)));
    let citation = Memo::new(move |_| published.with(|of| of.as_ref().map(|of| of.learning.sentence())));
    let examples = Memo::new(move |_| workload.with(|w| w.as_ref().and_then(|w| w.examples.clone())));
    let answers = Memo::new(move |_| workload.with(|w| w.as_ref().map(|w| w.answers.clone()).unwrap_or_default()));
    view! {
        <section class="sheet run" aria-label=t!(running_region)>
            <div class="run-head">
                <h2>{title}</h2>
                <button
                    class="button quiet"
                    type="button"
                    node_ref=cancel
                    disabled=move || benchmark.stage.get() == Stage::Cancelling
                    on:click=move |_| benchmark.cancel()
                >
                    {t!(common_cancel)}
                </button>
            </div>
            <div class="bar-line">
                <div
                    class="bar"
                    role="progressbar"
                    aria-label=t!(running_progress)
                    aria-valuemin="0"
                    aria-valuemax="100"
                    aria-valuenow=move || percent.get().to_string()
                >
                    <div class="bar-fill" style:width=move || format!("{}%", percent.get())></div>
                </div>
                <span class="bar-text" aria-hidden="true">{move || format!("{:.0} %", percent.get())}</span>
                <span class="bar-left" data-figure="left">{left}</span>
            </div>
            {move || bundle.get().map(|bundle| view! { <p class="note" data-figure="bundle">{bundle.sentence()}</p> })}
            <dl class="figures">
                <Figure name="samples-per-second" title=t!(running_rate) value=move || {
                    workload.with(|w| w.as_ref().and_then(|w| w.samples_per_second))
                } text=|rate| text::rate(rate) />
                <Figure name="loss" title=t!(running_loss) value=move || {
                    workload.with(|w| w.as_ref().and_then(LiveWorkload::loss))
                } text=|loss| text::number(loss, 4) />
                <Figure name="training-accuracy" title=t!(running_training_accuracy) value=move || {
                    workload.with(|w| w.as_ref().and_then(LiveWorkload::training_accuracy))
                } text=text::percent />
                <Figure name="test-accuracy" title=t!(running_test_accuracy) value=move || {
                    workload.with(|w| w.as_ref().and_then(LiveWorkload::test_accuracy))
                } text=text::percent />
                <Figure name="step" title=t!(running_step) value=move || {
                    workload.with(|w| w.as_ref().filter(|w| w.step > 0).map(|w| w.step as f64))
                } text=|step| text::number(step, 0) />
                <Figure name="epochs" title=t!(running_epochs) value=move || {
                    workload.with(|w| w.as_ref().filter(|w| w.step > 0).map(|w| w.epochs))
                } text=|epochs| text::number(epochs, 2) />
            </dl>
            <ExampleStrip examples answers />
            <div class="charts">
                <LossChart training />
                <AccuracyChart training tests target published />
                <RateChart rates />
            </div>
            {move || citation.get().map(|sentence| view! { <p class="note" data-figure="published">{sentence}</p> })}
        </section>
    }
}

/// One number that changes during the run; `data-value` has it unrounded.
#[component]
fn Figure(
    name: &'static str,
    title: &'static str,
    value: impl Fn() -> Option<f64> + Send + Sync + Copy + 'static,
    text: impl Fn(f64) -> String + Send + Sync + Copy + 'static,
) -> impl IntoView {
    view! {
        <div class="figure">
            <dt>{title}</dt>
            <dd data-figure=name data-value=move || value().map(|value| value.to_string())>
                {move || value().map_or_else(|| "–".to_owned(), text)}
            </dd>
        </div>
    }
}
