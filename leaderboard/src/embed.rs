//! Small page with a result, which other sites show in an `<iframe>`. It has no scripts and loads no resources.

use std::sync::LazyLock;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use results::score_digits;
use sha2::{Digest, Sha256};
use view::card::{Card, CardWorkload, LOGO, curve_path};

use crate::api::{Leaderboard, RunId, visible_card};
use crate::error::Result;
use crate::pages::ASK_EACH_TIME;

const STYLE: &str = include_str!("embed.css");

/// Width and height of a curve's view box. The page stretches the curve.
const CURVE: (f32, f32) = (300.0, 60.0);

/// Content security policy of an embed: only its own style, in frames of any site.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors *"
    );
    HeaderValue::from_str(&policy).expect("base64 and the words above are visible ASCII")
});

/// `GET /embed/runs/{id}`: the page of a visible run, with `?theme=light` or `?theme=dark`.
pub(crate) async fn show(
    State(leaderboard): State<Leaderboard>,
    id: Result<RunId>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let theme = theme(query.as_deref().unwrap_or_default());
    if let Ok(RunId(id)) = id
        && let Some(card) = visible_card(&leaderboard.storage, &id).await?
    {
        return Ok(answer(StatusCode::OK, page(theme, &id, &card)));
    }
    Ok(answer(StatusCode::NOT_FOUND, missing(theme)))
}

fn answer(status: StatusCode, html: Markup) -> Response {
    let headers = [(header::CONTENT_SECURITY_POLICY, POLICY.clone()), (header::CACHE_CONTROL, ASK_EACH_TIME)];
    (status, headers, Html(html.into_string())).into_response()
}

/// Returns the theme in a query. Without one, the reader's setting applies.
fn theme(query: &str) -> Option<&str> {
    query.split('&').find_map(|part| part.strip_prefix("theme=").filter(|theme| matches!(*theme, "light" | "dark")))
}

fn document(theme: Option<&str>, title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – Gradmark" }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (content) } }
        }
    }
}

fn brand() -> Markup {
    html! { svg viewBox="0 0 32 32" aria-hidden="true" { (PreEscaped(LOGO)) } " Gradmark" }
}

fn missing(theme: Option<&str>) -> Markup {
    let content = html! {
        p class="brand" { (brand()) }
        h1 { "This result is not available" }
        p { "It may have been deleted, or the address may be incomplete." }
        p { a href="/" target="_blank" rel="noopener" { "Gradmark" } }
    };
    document(theme, "Result not available", &content)
}

fn page(theme: Option<&str>, id: &str, card: &Card) -> Markup {
    let name = &card.device.name;
    let content = html! {
        p class="brand" { (brand()) " " span class="tier" data-tier=(card.tier.name()) { (card.tier_in_words()) } }
        div class="head" {
            div {
                h1 { (name) @if card.device.lead.is_some() { " " small { "(claimed)" } } }
                p class="soft" { (card.how) }
            }
            @if let Some(score) = card.score {
                p class="score" {
                    strong { (score_digits(score.value)) } " GFLOP/s"
                    @if let Some(of) = score.interval {
                        br; span class="soft" { (score_digits(of.low)) " – " (score_digits(of.high)) }
                    }
                }
            }
        }
        @if let Some(rank) = card.rank_in_words() { p class="rank" { (rank.join(" ")) } }
        div class="networks" { @for workload in &card.workloads { (network(workload)) } }
        p { a href={ "/runs/" (id) } target="_blank" rel="noopener" { "Full result on Gradmark" } }
    };
    document(theme, name, &content)
}

fn network(workload: &CardWorkload) -> Markup {
    let (path, (width, height)) = (curve_path(&workload.curve, CURVE), CURVE);
    let view_box = format!("0 0 {width} {height}");
    html! {
        section {
            h2 { (workload.title) }
            @if !path.is_empty() {
                p class="soft" { "Training loss" }
                svg class="curve" viewBox=(view_box) preserveAspectRatio="none" aria-hidden="true" {
                    path class="below" d=(format!("{path}L{width} {height}L0 {height}Z")) {}
                    path d=(path) {}
                }
            }
            @match &workload.figures {
                Ok(figures) => {
                    p { b { (figures.rate) } " samples/s " (figures.within.as_deref().unwrap_or_default()) }
                    @match (&figures.target, &figures.seconds_to_target) {
                        (Some(target), Some(seconds)) => p { (target) " after " b { (seconds) } }
                        (Some(target), None) => p { (target) " not reached" }
                        (None, _) => p { (figures.result.in_words()) }
                    }
                }
                Err(outcome) => p { "It " (outcome) "." }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use results::api::StoredRun;

    use super::*;
    use crate::card::card_of;
    use crate::card::testing::{named, ranked, run, said_to_be, too_short, without_figures};

    fn shown(run: &StoredRun) -> String {
        page(None, &run.run_id, &card_of(run)).into_string()
    }

    #[test]
    fn has_score_rank_device_networks_and_link() {
        let run = run();
        let card = ranked(&run);
        let html = page(None, &run.run_id, &card).into_string();
        let score = score_digits(card.score.unwrap().value);
        for part in [
            &format!("<strong>{score}</strong> GFLOP/s<br>"),
            "Faster than 73 % of 214 devices",
            "<h1>NVIDIA GeForce RTX 4090</h1>",
            ">proven<",
            "on Linux · Vulkan · f32",
            "<h2>MNIST, LeNet (Caffe)</h2>",
            "97 % after <b>3.618 s</b>",
            "<a href=\"/runs/0123456789abcdef\" target=\"_blank\" rel=\"noopener\">",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert_eq!(html.matches("class=\"curve\"").count(), 2);
        assert!(shown(&said_to_be("RTX 3090")).contains("RTX 3090 <small>(claimed)</small>"));
    }

    #[test]
    fn run_without_score_has_only_its_networks() {
        let html = shown(&without_figures());
        assert!(!html.contains("GFLOP/s") && html.contains("It disagreed with the reference."), "{html}");
        let html = shown(&too_short());
        assert!(html.contains("It was too short to measure.") && !html.contains("samples/s"), "{html}");
    }

    #[test]
    fn escapes_device_name() {
        let html = shown(&named("</title><script>\"&'"));
        assert!(html.contains("&lt;/title&gt;&lt;script&gt;&quot;&amp;'") && !html.contains("<script"), "{html}");
    }

    #[test]
    fn ignores_unknown_theme() {
        let queries = ["theme=dark", "a=b&theme=light", "theme=\"><script>", ""];
        assert_eq!(queries.map(theme), [Some("dark"), Some("light"), None, None]);
    }
}
