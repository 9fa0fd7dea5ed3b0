//! A strip of test images with what the network answers now.

use std::sync::Arc;

use leptos::prelude::*;

use crate::examples::Examples;
use crate::{platform, t};

/// Nothing where no images are shown. It is no live region: what changes here is read out to nobody who did not ask.
#[component]
pub(super) fn ExampleStrip(
    #[prop(into)] examples: Signal<Option<Arc<Examples>>>,
    #[prop(into)] answers: Signal<Vec<u16>>,
) -> impl IntoView {
    move || examples.get().map(|examples| view! { <Strip examples answers /> })
}

#[component]
fn Strip(examples: Arc<Examples>, answers: Signal<Vec<u16>>) -> impl IntoView {
    let addresses: Vec<String> = examples.bitmaps().map(|bitmap| platform::data_address("image/bmp", bitmap)).collect();
    let answered = Memo::new(move |_| answers.with(|answers| examples.answered(answers)));
    let image = |(place, address): (usize, String)| {
        let of = move |answered: &Vec<Option<crate::examples::Example>>| answered.get(place).cloned().flatten();
        let is_right = move || answered.with(of).map(|example| example.is_right);
        let mark = move || match is_right() {
            Some(true) => "✓",
            Some(false) => "✗",
            None => "",
        };
        let answer = move || answered.with(of).map(|example| example.answer);
        let words = move || answered.with(of).map(|example| example.words).unwrap_or_default();
        view! {
            <li class:right=move || is_right() == Some(true) class:wrong=move || is_right() == Some(false)>
                <img src=address alt=words width="48" height="48" />
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
