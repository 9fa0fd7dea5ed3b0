//! Pages of the repository's documents, and the list of documents.

use leptos::html;
use leptos::prelude::*;

use super::language::kept;
use super::parts::{answered, refusal, set_later};
use crate::documents::{self, AT_THE_END, document};
use crate::platform::{self, RequestError};
use crate::route::{DOCUMENTS, FILE};
use crate::t;
use crate::words::{self, PageLanguage};

pub(super) fn document_page(name: String) -> impl IntoView {
    let Some(document) = document(&name) else {
        platform::set_title(t!(documents_unknown));
        let link = view! { <p><a class="button quiet" href=DOCUMENTS>{t!(documents_title)}</a></p> };
        return view! { <section class="sheet narrow"><h1>{t!(documents_unknown)}</h1>{link}</section> }.into_any();
    };
    platform::set_title(document.title.text());
    let loaded = kept("document", || {
        let loaded = RwSignal::new(None::<Result<String, RequestError>>);
        set_later(loaded, async move { Some(platform::html_of(document).await) });
        loaded
    });
    let in_english =
        (words::language() != PageLanguage::English).then(|| view! { <p class="note">{t!(documents_english)}</p> });
    let refused = |why: RequestError| {
        let refusal = refusal(t!(leaderboard_not_shown, reason = why.to_string()));
        view! { <h1>{document.title.text()}</h1>{refusal} }.into_any()
    };
    let shown = answered(loaded, refused, |html| article(html).into_any());
    view! {
        <section class="sheet" id="document">
            {in_english}
            {shown}
            <div class="row"><a class="button quiet" href=DOCUMENTS>{t!(documents_title)}</a></div>
        </section>
    }
    .into_any()
}

/// Rendered document. The HTML is ours: HTML in the source is escaped.
fn article(html: String) -> impl IntoView {
    let article = NodeRef::<html::Article>::new();
    Effect::new(move |_| {
        // The browser looked for the URL's fragment before the article existed.
        if article.get().is_some() {
            platform::go_to_fragment();
        }
    });
    view! { <article class="document" lang="en" node_ref=article inner_html=html></article> }
}

pub(super) fn documents_page() -> impl IntoView {
    platform::set_title(t!(documents_title));
    let listed = documents::ALL.iter().map(|document| {
        view! {
            <li>
                <a href=document.path()>{document.title.text()}</a>
                <span class="explain">{document.about.text()}</span>
            </li>
        }
    });
    view! {
        <section class="sheet" aria-labelledby="documents-title">
            <h1 id="documents-title">{t!(documents_title)}</h1>
            <ul class="plain">
                {listed.collect_view()}
                <li>
                    <a href="/api">"API"</a>
                    <span class="explain">{t!(documents_api_about)}</span>
                </li>
            </ul>
        </section>
    }
}

pub(super) fn footer_links() -> impl IntoView {
    let named = AT_THE_END.into_iter().filter_map(document);
    let named = named.map(|document| view! { <li><a href=document.path()>{document.title.text()}</a></li> });
    view! {
        <nav aria-label=t!(documents_title)>
            <ul>
                {named.collect_view()}
                <li><a href="/api">"API"</a></li>
                <li><a href=DOCUMENTS>{t!(documents_title)}</a></li>
                <li><a href=FILE>{t!(common_show_file)}</a></li>
            </ul>
        </nav>
    }
}
