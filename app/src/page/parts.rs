//! Components and helpers shared by several views.

use std::borrow::Cow;

use leptos::html::{self, ElementType};
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::open_data::LICENCE_ADDRESS;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::language::kept;
use crate::platform::{self, RequestError};
use crate::{t, text};

/// Response to a request; `None` until it arrives.
pub(super) type Response<T> = RwSignal<Option<Result<T, RequestError>>>;

pub(super) fn load<T: DeserializeOwned + Send + Sync + 'static>(address: String) -> Response<T> {
    let answer = RwSignal::new(None);
    set_later(answer, async move { Some(platform::get(&address).await) });
    answer
}

/// Sets a signal to a value once it is known, unless the view is gone by then.
pub(super) fn set_later<T: Send + Sync + 'static>(signal: RwSignal<T>, value: impl Future<Output = T> + 'static) {
    spawn_local(async move { drop(signal.try_set(value.await)) });
}

/// Like [`load`], but keeps the response when the language changes.
pub(super) fn load_kept<T: DeserializeOwned + Send + Sync + 'static>(name: &str, address: String) -> Response<T> {
    kept(name, || load(address))
}

/// Requests something again when the address changes. Responses may arrive out of order; only the last request counts.
pub(super) fn load_latest<T: DeserializeOwned + Send + Sync + 'static>(
    address: impl Fn() -> String + Send + Sync + 'static,
) -> Response<T> {
    let answer = RwSignal::new(None);
    let request = StoredValue::new(0_u32);
    Effect::new(move |_| {
        let address = address();
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let loaded = platform::get(&address).await;
            // The page may show something else by now.
            if request.try_get_value() == Some(number) {
                answer.set(Some(loaded));
            }
        });
    });
    answer
}

pub(super) fn answered<T: Clone + Send + Sync + 'static>(
    answer: Response<T>,
    refused: impl Fn(RequestError) -> AnyView + Send + 'static,
    shown: impl Fn(T) -> AnyView + Send + 'static,
) -> impl IntoView {
    move || match answer.get() {
        None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
        Some(Err(refusal)) => refused(refusal),
        Some(Ok(answer)) => shown(answer),
    }
}

/// Like [`answered`], for a part of a page.
pub(super) fn listed<T: Clone + Send + Sync + 'static>(
    answer: Response<T>,
    shown: impl Fn(T) -> AnyView + Send + 'static,
) -> impl IntoView {
    answered(answer, |why| refusal(t!(leaderboard_not_shown, reason = why.to_string())), shown)
}

pub(super) fn table(
    class: &'static str,
    label: impl Into<String>,
    heads: impl IntoView,
    bodies: impl IntoView,
) -> impl IntoView {
    let label = label.into();
    let region = t!(common_scrollable, what = label);
    view! {
        <div class="scroll" role="region" aria-label=region tabindex="0">
            <table class=class aria-label=label>
                <thead><tr>{heads}</tr></thead>
                {bodies}
            </table>
        </div>
    }
}

#[derive(Clone, PartialEq)]
pub(super) enum Sending<T> {
    No,
    Now,
    Done(T),
    Refused(String),
}

pub(super) fn send<T: Send + Sync + 'static>(
    state: RwSignal<Sending<T>>,
    request: impl Future<Output = Result<T, String>> + 'static,
) {
    state.set(Sending::Now);
    set_later(state, async move { request.await.map_or_else(Sending::Refused, Sending::Done) });
}

/// Second line of a cell or label, in small letters.
pub(super) fn explain(remark: Option<String>) -> impl IntoView {
    remark.map(|remark| view! { <span class="explain">{remark}</span> })
}

pub(super) fn list_items(sentences: Vec<String>) -> AnyView {
    sentences.into_iter().map(|sentence| view! { <li>{sentence}</li> }).collect_view().into_any()
}

pub(super) fn refusal(sentence: String) -> AnyView {
    view! { <p class="refusal">{sentence}</p> }.into_any()
}

pub(super) fn notice(title: &'static str, why: String, address: &'static str, link: &'static str) -> AnyView {
    view! {
        <section class="sheet narrow">
            <h1>{title}</h1>
            <p>{text::capitalised(&why)}</p>
            <p><a class="button quiet" href=address>{link}</a></p>
        </section>
    }
    .into_any()
}

/// Focuses an element once it is mounted, if `when` returns true.
pub(super) fn focus<E>(element: NodeRef<E>, when: impl Fn() -> bool + 'static)
where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<HtmlElement> + 'static,
{
    Effect::new(move |_| {
        if let Some(element) = element.get()
            && when()
        {
            let element: &HtmlElement = element.as_ref();
            drop(element.focus());
        }
    });
}

pub(super) fn copy(text: String, said: RwSignal<String>) {
    report_copy(async move { platform::copy(&text).await }, said);
}

pub(super) fn report_copy(copied: impl Future<Output = Result<(), String>> + 'static, said: RwSignal<String>) {
    let sentence = |reason: String| t!(common_not_saved, reason);
    set_later(said, async move { copied.await.map_or_else(sentence, |()| t!(common_copied).to_owned()) });
}

/// Button that opens the system's share dialog, if the browser has one.
pub(super) fn share_now(
    text: impl Fn() -> String + 'static,
    address: String,
    status: RwSignal<String>,
) -> Option<impl IntoView> {
    let share = move |_| {
        let (text, address) = (text(), address.clone());
        spawn_local(async move {
            if let Err(reason) = platform::share(&text, &address).await {
                status.set(t!(share_failed, reason));
            }
        });
    };
    platform::can_share().then(|| {
        view! { <button class="button main" type="button" on:click=share>{t!(share_now)}</button> }
    })
}

/// Field for the name of the GPU, which its owner may enter.
pub(super) fn claimed_name(claimed: RwSignal<String>) -> impl IntoView {
    // Pasted text often contains invisible characters, which the leaderboard rejects.
    let plain = |text: String| text.chars().filter(|c| results::is_plain(*c)).collect();
    text_field(t!(start_claim), "text", Some("80"), claimed, plain)
}

/// Field for a text, which `clean` changes before it is stored.
pub(super) fn text_field(
    label: &'static str,
    kind: &'static str,
    max_length: Option<&'static str>,
    value: RwSignal<String>,
    clean: fn(String) -> String,
) -> impl IntoView {
    view! {
        <label class="claim" class:search=kind == "search">
            <span>{label}</span>
            <input
                type=kind
                maxlength=max_length
                autocomplete="off"
                spellcheck="false"
                prop:value=move || value.get()
                on:input=move |event| value.set(clean(event_target_value(&event)))
            />
        </label>
    }
}

/// Segmented control for a few exclusive options; `name` must be unique on the page.
pub(super) fn choice<T: Copy + PartialEq + Send + Sync + 'static>(
    legend: &'static str,
    name: &'static str,
    options: Vec<(T, Cow<'static, str>)>,
    now: impl Fn() -> T + Copy + Send + Sync + 'static,
    choose: impl Fn(T) + Copy + 'static,
) -> impl IntoView {
    let button = move |(value, title): (T, Cow<'static, str>)| {
        view! {
            <label>
                <input type="radio" name=name prop:checked=move || now() == value on:change=move |_| choose(value) />
                <span>{title}</span>
            </label>
        }
    };
    view! {
        <fieldset class="choice">
            <legend>{legend}</legend>
            {options.into_iter().map(button).collect_view()}
        </fieldset>
    }
}

pub(super) fn select<T: Copy + PartialEq + 'static>(
    label: &'static str,
    options: Vec<(T, String)>,
    now: T,
    choose: impl Fn(T) + 'static,
) -> impl IntoView {
    let values: Vec<T> = options.iter().map(|(value, _)| *value).collect();
    let options = options.into_iter().enumerate().map(|(number, (value, title))| {
        view! { <option value=number.to_string() selected=value == now>{title}</option> }
    });
    let choose = move |event| {
        let number: Option<usize> = event_target_value(&event).parse().ok();
        if let Some(value) = number.and_then(|number| values.get(number)) {
            choose(*value);
        }
    };
    view! {
        <label class="select">
            <span>{label}</span>
            <select on:change=choose>{options.collect_view()}</select>
        </label>
    }
}

/// Drop-down list of networks that is kept in the URL, and the chosen one. `usual` is chosen without the URL.
pub(super) fn network_choice(
    networks: Vec<&'static str>,
    usual: &'static str,
) -> (RwSignal<&'static str>, impl IntoView) {
    const PARAMETER: &str = "network";
    let requested = platform::parameter(PARAMETER);
    let requested = networks.iter().copied().find(|name| requested.as_deref() == Some(*name));
    let chosen = RwSignal::new(requested.unwrap_or(usual));
    let options = networks.into_iter().map(|name| (name, text::workload_title(name))).collect();
    let choose = move |name| {
        platform::put_in_address(PARAMETER, name);
        chosen.set(name);
    };
    (chosen, select(t!(common_network), options, chosen.get_untracked(), choose))
}

/// Placeholder for the link in a sentence: a private-use character that no text contains.
pub(super) const LINK: &str = "\u{e000}";

/// Sentence with a link in place of [`LINK`], whose position depends on the language.
pub(super) fn linked(sentence: &str, address: &str, words: &str) -> impl IntoView + use<> {
    let (before, after) = sentence.split_once(LINK).unwrap_or((sentence, ""));
    // Search engines and browsers look for the license of a page.
    let rel = (address == LICENCE_ADDRESS).then_some("license");
    let (address, words) = (address.to_owned(), words.to_owned());
    view! { {before.to_owned()}<a href=address rel=rel>{words}</a>{after.to_owned()} }
}

/// Maximum number of rows in a response from the leaderboard; the open data has all.
pub(super) const MAX_ROWS: u32 = 500;
const ROWS_STEP: u32 = 100;

/// Button that requests more rows. It is outside the table, so that it keeps keyboard focus.
pub(super) fn show_more(more: Memo<bool>, limit: RwSignal<u32>) -> impl IntoView {
    let ask = move |_| limit.update(|limit| *limit = (*limit + ROWS_STEP).min(MAX_ROWS));
    view! {
        <Show when=move || more.get()>
            <div class="row">
                <button class="button quiet" type="button" on:click=ask>{t!(common_show_more)}</button>
            </div>
        </Show>
    }
}

pub(super) fn small_button(label: impl Into<String>, press: impl Fn() + 'static) -> impl IntoView {
    view! { <button class="button small" type="button" on:click=move |_| press()>{label.into()}</button> }
}

/// Button of this kind, with a note that describes it and has this id.
pub(super) fn go(
    button: NodeRef<html::Button>,
    [kind, id, label]: [&'static str; 3],
    disabled: Signal<bool>,
    note: Signal<String>,
    go: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <div class="go">
            <button
                class=format!("button {kind}")
                type="button"
                node_ref=button
                disabled=disabled
                aria-describedby=id
                on:click=move |_| go()
            >
                {label}
            </button>
            <p class="note" id=id>{note}</p>
        </div>
    }
}

pub(super) fn save(file: &str, kind: &str, text: &str, said: RwSignal<String>) {
    if let Err(reason) = platform::download(file, kind, text) {
        said.set(t!(common_not_saved, reason));
    }
}

pub(super) fn exact_json(json: Signal<String>, file: String) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let save = move || save(&file, "application/json", &json.get_untracked(), said);
    view! {
        <details class="json">
            <summary>{t!(result_json)}</summary>
            <div class="row">
                {small_button(t!(common_copy), move || copy(json.get_untracked(), said))}
                {small_button(t!(common_download), save)}
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <pre tabindex="0" role="region" aria-label=t!(result_json)><code>{json}</code></pre>
        </details>
    }
}
