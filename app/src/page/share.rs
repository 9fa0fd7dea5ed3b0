//! Share card of an uploaded run, with buttons to share and copy it.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::parts::copy;
use crate::{platform, t};

/// Width and height of the card, in pixels (`leaderboard::card::SIZE`).
const CARD: (u32, u32) = (1200, 630);
/// Width and height of the embedded page, in CSS pixels.
const EMBED: (u32, u32) = (480, 320);

/// Card and links of a run. `text` is the result in words, without its URL.
pub(super) fn share(run_id: &str, text: String) -> impl IntoView + use<> {
    let status = RwSignal::new(String::new());
    let origin = platform::origin();
    let address = format!("{origin}/runs/{run_id}");
    let card = format!("/api/v1/runs/{run_id}/card.png");
    let badge = format!("[![Gradmark]({origin}/api/v1/runs/{run_id}/badge.svg)]({address})");
    let (width, height) = EMBED;
    let embed = format!(
        "<iframe src=\"{origin}/embed/runs/{run_id}\" width=\"{width}\" height=\"{height}\" title=\"Gradmark\" \
         loading=\"lazy\" style=\"border:0\"></iframe>"
    );
    let share = platform::can_share().then(|| {
        let address = address.clone();
        let share = move |_| {
            let (text, address) = (text.clone(), address.clone());
            spawn_local(async move {
                if let Err(reason) = platform::share(&text, &address).await {
                    status.set(t!(share_failed, reason));
                }
            });
        };
        view! { <button class="button main" type="button" on:click=share>{t!(share_now)}</button> }
    });
    let image = card.clone();
    let copy_image = move |_| {
        let image = image.clone();
        spawn_local(async move {
            status.set(match platform::copy_image(&image).await {
                Ok(()) => t!(common_copied).to_owned(),
                Err(reason) => t!(common_not_saved, reason),
            });
        });
    };
    let copy_button = move |label: &'static str, text: String| {
        view! {
            <button class="button small" type="button" on:click=move |_| copy(text.clone(), status)>{label}</button>
        }
    };
    view! {
        <section class="share" aria-label=t!(share_title)>
            <a href=card.clone()>
                <img src=card.clone() alt=t!(share_card) width=CARD.0 height=CARD.1 loading="lazy" />
            </a>
            <div class="row">
                {share}
                {copy_button(t!(share_link), address)}
                <button class="button small" type="button" on:click=copy_image>{t!(share_image)}</button>
                {copy_button(t!(share_badge), badge)}
                {copy_button(t!(share_embed), embed)}
                <span class="note" aria-live="polite">{status}</span>
            </div>
        </section>
    }
}
