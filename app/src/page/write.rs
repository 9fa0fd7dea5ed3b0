//! Field whose text the language model of the finished run continues, in the worker that trained it.

use leptos::prelude::*;
use results::RunRecord;

use super::language::kept;
use super::parts::{copy, share_now, small_button, text_field};
use crate::live::TrainedWriter;
use crate::trained::{TrainedNetworks, WrittenText};
use crate::words::outcome;
use crate::{platform, t, text};

/// Lets visitors continue texts with the best language model of the finished run while its worker is alive.
pub(super) fn continue_text(networks: TrainedNetworks, record: RunRecord) -> impl IntoView {
    move || networks.writer.get().map(|writer| try_writer(networks, writer, record.clone()))
}

/// Returns the result in words, after the text that the language model of the run wrote, if it has one.
pub(super) fn to_pass_on(networks: TrainedNetworks, record: &RunRecord) -> String {
    let result = outcome::to_pass_on(record);
    let text = networks.text.with_untracked(|text| text.as_ref().map(whole_text));
    text.map_or_else(|| result.clone(), |text| t!(write_shared, text, result))
}

fn whole_text(WrittenText { beginning, continuation, .. }: &WrittenText) -> String {
    format!("{beginning}{continuation}")
}

/// A first beginning, which visitors replace.
const BEGINNING: &str = "Whales";
/// Characters of a beginning: more than any network reads at once.
const MAX_BEGINNING: &str = "300";

fn try_writer(networks: TrainedNetworks, writer: TrainedWriter, record: RunRecord) -> impl IntoView {
    let name = text::workload_title(&writer.workload);
    let beginning = kept("beginning", || RwSignal::new(BEGINNING.to_owned()));
    let temperature = kept("temperature", || RwSignal::new(engine::Writer::TEMPERATURE));
    let is_writing = Memo::new(move |_| networks.is_writing());
    let write = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        networks.continue_text(beginning.get_untracked(), temperature.get_untracked());
    };
    let said = RwSignal::new(String::new());
    let record = StoredValue::new(record);
    let shared = move || record.with_value(|record| to_pass_on(networks, record));
    let beginning_of_text = move || networks.text.with(|text| text.as_ref().map(|text| text.beginning.clone()));
    let continuation = move || networks.text.with(|text| text.as_ref().map(|text| text.continuation.clone()));
    view! {
        <section class="write" aria-labelledby="write-title">
            <h2 class="minor" id="write-title">{t!(write_title)}</h2>
            <p class="note">{t!(write_network, network = name)}</p>
            <form on:submit=write>
                {text_field(t!(write_beginning), "text", Some(MAX_BEGINNING), beginning, |text| text)}
                {temperature_slider(temperature)}
                <button class="button quiet" type="submit" disabled=is_writing>{t!(write_now)}</button>
            </form>
            <p class="written" lang="en" aria-live="polite" aria-busy=move || is_writing.get().to_string()>
                <b>{beginning_of_text}</b>
                {continuation}
            </p>
            <div class="row">
                {share_now(shared, platform::origin(), said)}
                {small_button(t!(write_copy), move || copy(format!("{} {}", shared(), platform::origin()), said))}
                <span class="note" aria-live="polite">{said}</span>
            </div>
        </section>
    }
}

fn temperature_slider(temperature: RwSignal<f64>) -> impl IntoView {
    let shown = move || text::number(temperature.get(), 1);
    let change = move |event| {
        if let Ok(value) = event_target_value(&event).parse() {
            temperature.set(value);
        }
    };
    view! {
        <label class="claim">
            <span>{t!(write_temperature)}": "<b>{shown}</b></span>
            <input
                type="range"
                min="0.1"
                max="1.5"
                step="0.1"
                aria-describedby="temperature-note"
                aria-valuetext=shown
                prop:value=move || temperature.get().to_string()
                on:input=change
            />
            <span class="note" id="temperature-note">{t!(write_temperature_note)}</span>
        </label>
    }
}
