//! Small page with a result, which other sites show in an `<iframe>`. It has no scripts and loads no resources.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use results::estimate::Estimate;
use results::score_digits;
use sha2::{Digest, Sha256};

use crate::api::{Leaderboard, RunId, visible_card};
use crate::badge::escaped;
use crate::card::{Card, Workload, curve_path};
use crate::error::Result;
use crate::pages::ASK_EACH_TIME;

const STYLE: &str = include_str!("embed.css");

/// Width and height of a curve's view box. The page stretches the curve.
const CURVE: (f32, f32) = (300.0, 60.0);

/// Logo (`app/icon.svg`).
const MARK: &str = "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\"><rect width=\"32\" height=\"32\" rx=\"8\" fill=\"#2742d6\"/>\
    <path d=\"M7 7.5C9.5 20.5 14 23 25 24\" fill=\"none\" stroke=\"#fff\" stroke-width=\"3\" stroke-linecap=\"round\"/>\
    <circle cx=\"25\" cy=\"24\" r=\"2.8\" fill=\"#ffb454\"/></svg>";

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

fn answer(status: StatusCode, html: String) -> Response {
    let headers = [(header::CONTENT_SECURITY_POLICY, POLICY.clone()), (header::CACHE_CONTROL, ASK_EACH_TIME)];
    (status, headers, Html(html)).into_response()
}

/// Returns the theme in a query as an HTML attribute. Without one, the reader's setting applies.
fn theme(query: &str) -> &'static str {
    let theme = query.split('&').find_map(|part| match part {
        "theme=light" => Some(" data-theme=\"light\""),
        "theme=dark" => Some(" data-theme=\"dark\""),
        _ => None,
    });
    theme.unwrap_or_default()
}

/// Returns a document. The title and the content are HTML, not plain text.
fn document(theme: &str, title: &str, content: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"{theme}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n</body>\n</html>\n"
    )
}

fn missing(theme: &str) -> String {
    let content = format!(
        "<p class=\"brand\">{MARK} Gradmark</p>\n<h1>This result is not available</h1>\n\
         <p>It may have been deleted, or the address may be incomplete.</p>\n\
         <p><a href=\"/\" target=\"_blank\" rel=\"noopener\">Gradmark</a></p>\n"
    );
    document(theme, "Result not available – Gradmark", &content)
}

fn page(theme: &str, id: &str, card: &Card) -> String {
    let name = escaped(&card.device.name);
    let claimed = if card.device.lead.is_some() { " <small>(claimed)</small>" } else { "" };
    let mut content = format!(
        "<p class=\"brand\">{MARK} Gradmark <span class=\"tier\" data-tier=\"{}\">{}</span></p>\n\
         <div class=\"head\">\n<div>\n<h1>{name}{claimed}</h1>\n<p class=\"soft\">{}</p>\n</div>\n",
        card.tier.name(),
        escaped(&card.tier_in_words()),
        escaped(&card.how),
    );
    if let Some(score) = card.score {
        push_score(&mut content, score);
    }
    content.push_str("</div>\n");
    if let Some(rank) = card.rank_in_words() {
        push(&mut content, format_args!("<p class=\"rank\">{}</p>", rank.join(" ")));
    }
    content.push_str("<div class=\"networks\">\n");
    card.workloads.iter().for_each(|workload| push_network(&mut content, workload));
    push(
        &mut content,
        format_args!(
            "</div>\n<p><a href=\"/runs/{}\" target=\"_blank\" rel=\"noopener\">Full result on Gradmark</a></p>",
            escaped(id)
        ),
    );
    document(theme, &format!("{name} – Gradmark"), &content)
}

fn push(content: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(content, "{line}").expect("writing to a string never fails");
}

fn push_score(content: &mut String, score: Estimate) {
    let interval = score
        .interval
        .map(|of| format!("<br><span class=\"soft\">{} – {}</span>", score_digits(of.low), score_digits(of.high)));
    let (digits, interval) = (score_digits(score.value), interval.unwrap_or_default());
    push(content, format_args!("<p class=\"score\"><strong>{digits}</strong> GFLOP/s{interval}</p>"));
}

fn push_network(content: &mut String, workload: &Workload) {
    push(content, format_args!("<section>\n<h2>{}</h2>", escaped(&workload.title)));
    let path = curve_path(&workload.curve, CURVE);
    if !path.is_empty() {
        let (width, height) = CURVE;
        push(
            content,
            format_args!(
                "<p class=\"soft\">Training loss</p>\n\
                 <svg class=\"curve\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
                 <path class=\"below\" d=\"{path}L{width} {height}L0 {height}Z\"/><path d=\"{path}\"/></svg>"
            ),
        );
    }
    match &workload.figures {
        Ok(figures) => {
            let within = figures.within.as_deref().unwrap_or_default();
            push(content, format_args!("<p><b>{}</b> samples/s {within}</p>", figures.rate));
            match (&figures.target, &figures.seconds_to_target) {
                (Some(target), Some(seconds)) => push(content, format_args!("<p>{target} after <b>{seconds}</b></p>")),
                (Some(target), None) => push(content, format_args!("<p>{target} not reached</p>")),
                (None, _) => push(content, format_args!("<p>accuracy {}</p>", figures.accuracy)),
            }
        }
        Err(outcome) => push(content, format_args!("<p>It {}.</p>", escaped(outcome))),
    }
    content.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use results::api::StoredRun;

    use super::*;
    use crate::card::testing::{named, ranked, run, said_to_be, too_short, without_figures};

    fn shown(run: &StoredRun) -> String {
        page("", &run.run_id, &Card::of(run))
    }

    #[test]
    fn has_score_rank_device_networks_and_link() {
        let run = run();
        let card = ranked(&run);
        let html = page("", &run.run_id, &card);
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
        assert!(html.contains("&lt;/title&gt;&lt;script&gt;&quot;&amp;&#39;") && !html.contains("<script"), "{html}");
    }

    #[test]
    fn ignores_unknown_theme() {
        for (query, expected) in [
            ("theme=dark", " data-theme=\"dark\""),
            ("a=b&theme=light", " data-theme=\"light\""),
            ("theme=\"><script>", ""),
            ("", ""),
        ] {
            assert_eq!(theme(query), expected, "{query}");
        }
    }
}
