//! Language of the page, and state that survives a language change.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::time::Duration;

use leptos::prelude::*;

use crate::platform;
use crate::t;
use crate::words::{self, PageLanguage};

const ID: &str = "language";

/// Renders a page, and renders it again when the language changes. State that must survive comes from [`kept`].
pub(super) fn in_chosen_language<V: IntoView + 'static>(page: impl Fn() -> V + Send + 'static) -> impl IntoView {
    provide_context(KeptState {
        owner: StoredValue::new(Owner::current().expect("the page has an owner")),
        things: StoredValue::new_local(Things::new()),
    });
    let spoken = RwSignal::new(platform::language());
    provide_context(spoken);
    move || {
        let language = spoken.get();
        words::speak(language);
        platform::show_language(language);
        untrack(&page)
    }
}

pub(super) fn language_choice() -> impl IntoView {
    let spoken: RwSignal<PageLanguage> = expect_context();
    let option = |language: PageLanguage| {
        let (code, chosen) = (language.name(), language == words::language());
        view! { <option value=code lang=code selected=chosen>{language.title()}</option> }
    };
    let choose = move |event| {
        if let Some(language) = PageLanguage::of_code(&event_target_value(&event)) {
            let restore = platform::remember_view();
            platform::keep_language(language);
            spoken.set(language);
            // After the new views are mounted.
            set_timeout(move || restore(ID), Duration::ZERO);
        }
    };
    view! {
        <label class="select">
            <span>{t!(common_language)}</span>
            <select id=ID on:change=choose>{PageLanguage::ALL.map(option).collect_view()}</select>
        </label>
    }
}

type Things = HashMap<(TypeId, String), Box<dyn Any>>;

#[derive(Clone, Copy)]
struct KeptState {
    owner: StoredValue<Owner>,
    things: StoredValue<Things, LocalStorage>,
}

/// Returns state that survives a language change, such as signals, runs and loaded data. It lives as long as the page.
/// The name distinguishes it from other state of the same type.
pub(super) fn kept<T: Copy + 'static>(name: &str, make: impl FnOnce() -> T) -> T {
    let keeper: KeptState = expect_context();
    let key = (TypeId::of::<T>(), name.to_owned());
    let known = keeper.things.with_value(|things| things.get(&key)?.downcast_ref::<T>().copied());
    known.unwrap_or_else(|| {
        let made = keeper.owner.with_value(|owner| owner.clone()).with(make);
        keeper.things.update_value(|things| drop(things.insert(key, Box::new(made))));
        made
    })
}
