//! A run in progress: the digits and the network's answers, the score so far, and the learning curves.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use results::{Goal, bits_per_character};

use super::chart::{accuracy_chart, loss_chart, test_loss_chart};
use super::parts::focus;
use crate::benchmark::{Benchmark, RunStage};
use crate::live::{Example, Examples, Live, LiveText, LiveWorkload};
use crate::{platform, t, text};

pub(super) fn running(benchmark: Benchmark) -> impl IntoView {
    let live = benchmark.live;
    let cancel = NodeRef::<html::Button>::new();
    // This button replaces the one that started the run, so it takes over the keyboard focus.
    focus(cancel, || true);
    let workload = Memo::new(move |_| live.with(|live| live.workload.clone()));
    let bundle = Memo::new(move |_| live.with(|live| live.bundle));
    let title = move || {
        let name = workload.with(|w| w.as_ref().map(|w| text::workload_title(&w.name)));
        name.unwrap_or_else(|| t!(running_getting_ready).to_owned())
    };
    let score = Memo::new(move |_| live.with(Live::score_so_far));
    let examples = Memo::new(move |_| workload.with(|w| w.as_ref().and_then(|w| w.examples.clone())));
    let answers = Memo::new(move |_| workload.with(|w| w.as_ref().map(|w| w.answers.clone()).unwrap_or_default()));
    let texts = Memo::new(move |_| workload.with(|w| w.as_ref().map(|w| w.texts.clone()).unwrap_or_default()));
    let writes = Memo::new(move |_| texts.with(|texts| !texts.is_empty()));
    let goal = goal(workload);
    let aims_at_loss = Memo::new(move |_| matches!(goal.get(), Some(Goal::Loss(_))));
    let reads_text = reads_text(workload);
    let show = move |name, title, value: fn(&LiveWorkload) -> _, text| live_figure(workload, name, title, value, text);
    view! {
        <section class="sheet run" aria-label=t!(running_progress)>
            <div class="run-head">
                <h2>{title}</h2>
                <button
                    class="button quiet"
                    type="button"
                    node_ref=cancel
                    disabled=move || benchmark.stage.get() == RunStage::Cancelling
                    on:click=move |_| benchmark.cancel()
                >
                    {t!(common_cancel)}
                </button>
            </div>
            {progress_bar(benchmark)}
            {move || bundle.get().map(|bundle| view! { <p class="note" data-figure="bundle">{bundle.sentence()}</p> })}
            <div class="run-body">
                {move || examples.get().map(|examples| example_strip(examples, answers))}
                <Show when=move || writes.get()>{live_texts(texts)}</Show>
                <dl class="figures">
                    <div class="figure large">
                        <dt>{t!(running_score)}</dt>
                        <dd data-figure="score-so-far">
                            {move || score.get().map_or_else(|| "–".to_owned(), text::score)}
                            <small>" GFLOP/s"</small>
                        </dd>
                    </div>
                    {move || if aims_at_loss.get() {
                        let bits: fn(&LiveWorkload) -> _ = |w| Some(bits_per_character(w.tests.last()?.loss));
                        let bits = reads_text.get().then(|| show("bits", t!(chart_bits), bits, |of| text::number(of, 3)));
                        let loss: fn(&LiveWorkload) -> _ = |w| Some(w.tests.last()?.loss);
                        let loss = show("test-loss", t!(metric_test_loss), loss, |of| text::number(of, 3));
                        view! { {loss}{bits} }.into_any()
                    } else {
                        let accuracy: fn(&LiveWorkload) -> _ = |w| Some(w.tests.last()?.accuracy);
                        show("test-accuracy", t!(metric_accuracy), accuracy, text::percent).into_any()
                    }}
                    {show("samples-per-second", t!(common_rate), |w| w.samples_per_second, text::rate)}
                    {show("loss", t!(running_loss), |w| Some(w.training.last()?.loss), |of| text::number(of, 4))}
                    {show("step", t!(running_step), |w| (w.step > 0).then_some(w.step as f64), |n| text::number(n, 0))}
                    {show("epochs", t!(running_epochs), |w| (w.step > 0).then_some(w.epochs), |n| text::number(n, 2))}
                </dl>
            </div>
            {live_charts(workload)}
        </section>
    }
}

fn progress_bar(benchmark: Benchmark) -> impl IntoView {
    let live = benchmark.live;
    // Whole percents: each change is drawn, which takes time from the training on a small device.
    let percent = Memo::new(move |_| live.with(|live| (live.fraction * 100.0).floor()));
    let left = Memo::new(move |_| {
        live.with(|live| live.forecast.seconds_left).map(|left| t!(running_left, time = text::about(left)))
    });
    view! {
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
    }
}

fn live_charts(workload: Memo<Option<LiveWorkload>>) -> impl IntoView {
    let training = Signal::derive(move || workload.with(|w| Some(w.as_ref()?.training.clone())).unwrap_or_default());
    let tests = Signal::derive(move || workload.with(|w| w.as_ref().map(|w| w.tests.clone()).unwrap_or_default()));
    let (goal, reads_text) = (goal(workload), reads_text(workload));
    let target = Signal::derive(move || match goal.get() {
        Some(Goal::Accuracy(accuracy)) => Some(accuracy),
        _ => None,
    });
    let published = Memo::new(move |_| workload.with(|w| w.as_ref().and_then(LiveWorkload::published)));
    let citation = Memo::new(move |_| published.with(|of| of.as_ref().map(|of| of.learning.sentence())));
    let has_curves = Memo::new(move |_| training.with(|points| !points.is_empty()));
    view! {
        <Show when=move || has_curves.get()>
            <div class="charts">
                {move || match goal.get() {
                    Some(Goal::Loss(loss)) => {
                        test_loss_chart(training, tests, loss, reads_text.get(), false).into_any()
                    }
                    _ => view! {
                        {accuracy_chart(training, tests, target, Some(published), false)}
                        {loss_chart(training, false)}
                    }
                    .into_any(),
                }}
            </div>
            {move || citation.get().map(|sentence| view! { <p class="note" data-figure="published">{sentence}</p> })}
        </Show>
    }
}

fn goal(workload: Memo<Option<LiveWorkload>>) -> Memo<Option<Goal>> {
    Memo::new(move |_| workload.with(|workload| workload.as_ref()?.target))
}

fn reads_text(workload: Memo<Option<LiveWorkload>>) -> Memo<bool> {
    Memo::new(move |_| workload.with(|workload| workload.as_ref().is_some_and(LiveWorkload::reads_text)))
}

/// Live metric. The attribute `data-value` has its unrounded value.
fn live_figure(
    workload: Memo<Option<LiveWorkload>>,
    name: &'static str,
    title: &'static str,
    value: fn(&LiveWorkload) -> Option<f64>,
    text: fn(f64) -> String,
) -> impl IntoView {
    let value = move || workload.with(|workload| workload.as_ref().and_then(value));
    view! {
        <div class="figure">
            <dt>{title}</dt>
            <dd data-figure=name data-value=move || value().map(|value| value.to_string())>
                {move || value().map_or_else(|| "–".to_owned(), text)}
            </dd>
        </div>
    }
}

/// Test images with the network's answers. Not a live region, because it changes constantly.
fn example_strip(examples: Arc<Examples>, answers: Memo<Vec<u16>>) -> impl IntoView {
    let addresses: Vec<_> = examples.bitmaps().map(|of| platform::data_address("image/bmp", &of)).collect();
    let answered = Memo::new(move |_| answers.with(|answers| examples.answered(answers)));
    let image = |(place, address): (usize, String)| {
        let example = move || answered.with(|answered: &Vec<Option<Example>>| answered.get(place).cloned().flatten());
        let is_right = move || example().map(|example| example.is_right);
        let mark = move || is_right().map(|is_right| if is_right { "✓" } else { "✗" });
        let answer = move || example().map(|example| example.answer);
        let words = move || example().map(|example| example.words).unwrap_or_default();
        view! {
            <li class:right=move || is_right() == Some(true) class:wrong=move || is_right() == Some(false)>
                <img src=address alt=words width="96" height="96" />
                <span aria-hidden="true"><b>{mark}</b>" "{answer}</span>
            </li>
        }
    };
    view! {
        <section class="examples" aria-labelledby="examples">
            <h3 id="examples">{t!(running_examples)}</h3>
            <ul>{addresses.into_iter().enumerate().map(image).collect_view()}</ul>
        </section>
    }
}

/// Texts of the language model, with the older ones above the newest. Not a live region, because it changes constantly.
fn live_texts(texts: Memo<Vec<LiveText>>) -> impl IntoView {
    let newest = Memo::new(move |_| texts.with(|texts| texts.last().map(|text| text.number)));
    let paragraph = move |LiveText { number, text }: LiveText| {
        let is_older = move || (newest.get() != Some(number)).then_some("true");
        view! { <p aria-hidden=is_older><b>{engine::Writer::PROMPT}</b>{text}</p> }
    };
    view! {
        <section class="texts" aria-labelledby="texts">
            <h3 id="texts">{t!(running_texts)}</h3>
            <div lang="en">
                <For each=move || texts.get() key=|text| (text.number, text.text.clone()) let:text>{paragraph(text)}</For>
            </div>
        </section>
    }
}
