//! The documents of the repository: one of them, and the list of all.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::documents::{AT_THE_END, document, documents};
use crate::platform::{self, Refusal};
use crate::route::{DOCUMENTS, FILE};

/// One document, which is fetched when it is opened.
#[component]
pub(super) fn DocumentPage(name: String) -> impl IntoView {
    let Some(document) = document(&name) else { return view! { <NoDocument name /> }.into_any() };
    platform::set_title(&document.title);
    let loaded = RwSignal::new(None::<Result<String, Refusal>>);
    spawn_local(async move { loaded.set(Some(platform::document(document).await)) });
    let shown = move || match loaded.get() {
        None => view! { <p class="note">"Loading …"</p> }.into_any(),
        Some(Err(refusal)) => view! {
            <h1>{document.title.clone()}</h1>
            <p class="refusal">{format!("This cannot be shown: {refusal}.")}</p>
        }
        .into_any(),
        Some(Ok(html)) => view! { <Text html /> }.into_any(),
    };
    view! {
        <section class="sheet" id="document">
            {shown}
            <div class="row">
                <a class="button quiet" href=DOCUMENTS>"All documents"</a>
            </div>
        </section>
    }
    .into_any()
}

/// HTML of ours, in which whatever HTML the document had is text. Documents are written in English.
#[component]
fn Text(html: String) -> impl IntoView {
    let article = NodeRef::<html::Article>::new();
    Effect::new(move |_| {
        // The browser looked for the place that the address names before there was one.
        if article.get().is_some() {
            platform::go_to_fragment();
        }
    });
    view! { <article class="document" lang="en" node_ref=article inner_html=html></article> }
}

#[component]
fn NoDocument(name: String) -> impl IntoView {
    view! {
        <section class="sheet narrow">
            <h1>"No such document"</h1>
            <p>{format!("There is no document “{name}”.")}</p>
            <p><a class="button quiet" href=DOCUMENTS>"All documents"</a></p>
        </section>
    }
}

/// All documents, with a sentence of each.
#[component]
pub(super) fn DocumentsPage() -> impl IntoView {
    platform::set_title("Documents");
    let listed = documents().iter().map(|document| {
        view! {
            <li>
                <a href=document.path()>{document.title.clone()}</a>
                <span class="explain">{document.about.clone()}</span>
            </li>
        }
    });
    view! {
        <section class="sheet" aria-labelledby="documents-title">
            <h1 id="documents-title">"Documents"</h1>
            <p class="lead small">"They lie beside the code, and this page is made from them."</p>
            <ul class="plain">
                {listed.collect_view()}
                <li>
                    <a href="/api">"API"</a>
                    <span class="explain">"Every call of the leaderboard, for people and for programs."</span>
                </li>
            </ul>
        </section>
    }
}

/// What every page links to at its end.
#[component]
pub(super) fn FooterLinks() -> impl IntoView {
    let named = AT_THE_END.into_iter().filter_map(document);
    let named = named.map(|document| view! { <li><a href=document.path()>{document.title.clone()}</a></li> });
    view! {
        <nav aria-label="Documents">
            <ul>
                {named.collect_view()}
                <li><a href="/api">"API"</a></li>
                <li><a href=DOCUMENTS>"All documents"</a></li>
                <li><a href=FILE>"Show a result file"</a></li>
            </ul>
        </nav>
    }
}
