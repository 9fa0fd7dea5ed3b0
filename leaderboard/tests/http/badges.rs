//! Badges, cards and embeds of a result, for other sites and link previews.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leaderboard::Protection;
use results::api::Tier;
use results::badge::Badge;
use resvg::tiny_skia::Pixmap;
use sha2::{Digest, Sha256};

use crate::support::people::on;
use crate::support::{Answer, TestServer, record};

#[test]
fn a_badge_says_device_speed_and_tier() {
    let server = TestServer::start();
    let run = server.proven(|_| {});
    let path = format!("/api/v1/runs/{}/badge", run.run_id);
    let answer = server.get(&format!("{path}.json?workload=caffe-mnist"));
    let members: serde_json::Map<String, serde_json::Value> = answer.parse();
    assert_eq!(members["schemaVersion"], 1, "as shields.io wants it");
    let badge: Badge = answer.parse();
    assert_eq!(badge.label, "Gradmark caffe-mnist");
    assert!(badge.message.starts_with("Example GPU 9000 · ") && badge.message.ends_with(" samples/s · proven"));
    let first: Badge = server.get(&format!("{path}.json")).parse();
    assert_eq!(first.label, "Gradmark");
    assert!(first.message.ends_with(" GFLOP/s · proven"), "{}", first.message);

    let picture = server.get(&format!("{path}.svg?workload=caffe-mnist"));
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/svg+xml"));
    assert_eq!(picture.header("cross-origin-resource-policy"), "cross-origin", "other pages may show it");
    assert_eq!(picture.header("cache-control"), "no-cache");
    assert!(picture.text().contains(&badge.message), "{}", picture.text());
    server.set_tier(&run.run_id, Tier::Flagged);
    let flagged: Badge = server.get(&format!("{path}.json")).parse();
    assert!(flagged.message.ends_with("flagged") && flagged.color != badge.color);
}

#[test]
fn no_name_is_markup() {
    let server = TestServer::start();
    let name = "<script>alert(1)</script>\"&'";
    let run = server.accepted(|record| record.device.claimed_name = Some(name.to_owned()));
    let picture = server.get(&format!("/api/v1/runs/{}/badge.svg", run.run_id)).text();
    assert!(picture.contains("&lt;script&gt;") && !picture.contains("<script"), "{picture}");
    let badge: Badge = server.get(&format!("/api/v1/runs/{}/badge.json", run.run_id)).parse();
    assert!(badge.message.starts_with(name));
}

#[test]
fn badges_are_refused_for_unranked_runs_and_name_failures() {
    let server = TestServer::start();
    let run = server.accepted(|record| record::diverge(&mut record.workloads[1]));
    for kind in ["svg", "json"] {
        let path = format!("/api/v1/runs/{}/badge.{kind}", run.run_id);
        server.get(&format!("{path}?workload=unheard-of")).assert_refused(404, "unknown_workload", "workload");
        server.get(&format!("{path}?workload=%00")).assert_refused(400, "bad_query", "workload");
        server.get(&format!("{path}?colour=red")).assert_refused(400, "bad_query", "");
        let nobody = format!("/api/v1/runs/0123456789abcdef/badge.{kind}");
        server.get(&nobody).assert_refused(404, "unknown_run", "");
    }
    let path = format!("/api/v1/runs/{}/badge.json?workload=caffe-mnist", run.run_id);
    assert!(server.get(&path).parse::<Badge>().message.contains("not completed"));
    server.set_tier(&run.run_id, Tier::Hidden);
    server.get(&path).assert_refused(404, "unknown_run", "");
}

const INDEX: &str = "<!doctype html><html><head><title>Gradmark</title>\
                     <meta property=\"og:title\" content=\"of the page\" /><script>start()</script></head><body></body></html>";

fn card(server: &TestServer, run_id: &str, ending: &str) -> Answer {
    server.get(&format!("/api/v1/runs/{run_id}/card.{ending}"))
}

/// Returns a server with a page, with or without a configured public address.
fn with_page(public_url: Option<&str>) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("dist")).unwrap();
    fs::write(folder.path().join("dist/index.html"), INDEX).unwrap();
    let public_url = public_url.map(|url| url.parse().unwrap());
    TestServer::with_page_and_protection(folder, "dist", Protection { public_url, ..Protection::default() })
}

/// Returns the page of a run for a request to this host, without headers.
fn page(server: &TestServer, run_id: &str, host: &str) -> String {
    let answer = server.raw(&format!("GET /runs/{run_id} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    body.to_owned()
}

#[test]
fn card_has_preview_size_and_may_be_embedded() {
    let server = TestServer::start();
    let run = server.proven(|_| {});
    let picture = card(&server, &run.run_id, "png");
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/png"));
    assert_eq!(picture.header("cross-origin-resource-policy"), "cross-origin");
    assert_eq!((picture.header("cache-control"), picture.header("access-control-allow-origin")), ("no-cache", "*"));
    let pixels = Pixmap::decode_png(&picture.body).unwrap();
    assert_eq!((pixels.width(), pixels.height()), (1200, 630));
    let colours: std::collections::HashSet<[u8; 4]> =
        pixels.pixels().iter().map(|p| [p.red(), p.green(), p.blue(), p.alpha()]).collect();
    assert!(colours.len() > 100, "letters have smooth edges: {} colours", colours.len());

    let drawing = card(&server, &run.run_id, "svg");
    assert_eq!((drawing.status.as_u16(), drawing.header("content-type")), (200, "image/svg+xml"));
    for part in [">Example GPU 9000<", ">MNIST, multilayer perceptron (Keras)<", ">MNIST, LeNet (Caffe)<", ">proven<"] {
        assert!(drawing.text().contains(part), "{part}: {}", drawing.text());
    }
    assert_ne!(card(&server, &server.accepted(|_| {}).run_id, "png").body, picture.body);
}

#[test]
fn a_card_has_a_rank_among_other_devices() {
    let server = TestServer::start();
    let run = server.proven(|_| {});
    let drawing = || card(&server, &run.run_id, "svg").text();
    server.proven(on("Example GPU B", 2));
    assert!(!drawing().contains("Faster than"), "there is only one other device");
    server.proven(on("Example GPU C", 3));
    let drawing = drawing();
    assert!(drawing.contains(">Faster than ") && drawing.contains(">of 2 devices<"), "{drawing}");
}

#[test]
fn a_card_follows_its_run_and_does_not_travel_twice() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    let path = format!("/api/v1/runs/{}/card.png", run.run_id);
    let first = server.get(&path);
    let again = |answer: &Answer| server.send("GET", &path, &[("if-none-match", answer.header("etag"))], b"");
    let same = again(&first);
    assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
    assert_eq!(server.another().get(&path).body, first.body, "every server draws the same");
    server.set_tier(&run.run_id, Tier::Flagged);
    let changed = again(&first);
    assert_eq!(changed.status, 200);
    assert_ne!(changed.body, first.body);
}

#[test]
fn what_has_no_card_is_refused_and_what_failed_says_so() {
    let server = TestServer::start();
    let run = server.accepted(|record| record::diverge(&mut record.workloads[1]));
    assert!(card(&server, &run.run_id, "svg").text().contains(">It diverged at step 5,000.<"));
    server.set_tier(&run.run_id, Tier::Hidden);
    for ending in ["png", "svg"] {
        card(&server, &run.run_id, ending).assert_refused(404, "unknown_run", "");
        card(&server, "0123456789abcdef", ending).assert_refused(404, "unknown_run", "");
        card(&server, "no-id", ending).assert_refused(404, "unknown_run", "");
    }
}

#[test]
fn the_page_of_a_run_tells_previews_what_it_is() {
    let server = with_page(Some("https://board.example"));
    let run = server.proven(|_| {});
    let html = page(&server, &run.run_id, "evil.example");
    for (name, content) in [
        ("property=\"og:type\"", "website".to_owned()),
        ("property=\"og:title\"", "Example GPU 9000 on Gradmark".to_owned()),
        ("property=\"og:url\"", format!("https://board.example/runs/{}", run.run_id)),
        ("property=\"og:image\"", format!("https://board.example/api/v1/runs/{}/card.png", run.run_id)),
        ("property=\"og:image:width\"", "1200".to_owned()),
        ("property=\"og:image:height\"", "630".to_owned()),
        ("name=\"twitter:card\"", "summary_large_image".to_owned()),
    ] {
        let tag = format!("<meta {name} content=\"{content}\" />");
        assert_eq!(html.matches(&format!("<meta {name}")).count(), 1, "{html}");
        assert!(html.contains(&tag), "{tag} is missing in {html}");
    }
    assert!(html.contains("<meta property=\"og:description\" content=\"Gradmark "), "{html}");
    assert!(
        html.contains("<script>start()</script>") && !html.contains("of the page") && !html.contains("evil"),
        "{html}"
    );
    // The policy has the hash of its script.
    let answer = server.get(&format!("/runs/{}", run.run_id));
    assert_eq!(answer.header("content-security-policy"), server.get("/").header("content-security-policy"));
    assert_eq!(
        (answer.header("cache-control"), answer.header("content-type")),
        ("no-cache", "text/html; charset=utf-8")
    );
    let head = server.send("HEAD", &format!("/runs/{}", run.run_id), &[], b"");
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
}

#[test]
fn no_name_is_markup_in_the_page() {
    let server = with_page(Some("https://board.example"));
    let name = "</head><script>alert(\"1\")</script>' & <b>";
    let run = server.accepted(|record| record.device.adapter.name = name.to_owned());
    let html = page(&server, &run.run_id, "here");
    assert_eq!((html.matches("</head>").count(), html.matches("<script").count()), (1, 1), "{html}");
    let escaped = "&lt;/head&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; &amp; &lt;b&gt; on Gradmark";
    assert!(html.contains(&format!("<meta property=\"og:title\" content=\"{escaped}\" />")), "{html}");
}

#[test]
fn only_pages_of_visible_runs_have_preview_tags() {
    let server = with_page(None);
    let run = server.accepted(|_| {});
    for path in ["/runs/0123456789abcdef", "/runs/0123", "/about"] {
        assert_eq!(server.get(path).text(), INDEX, "{path}");
    }
    assert_ne!(server.get(&format!("/runs/{}", run.run_id)).text(), INDEX);
    server.set_tier(&run.run_id, Tier::Hidden);
    assert_eq!(server.get(&format!("/runs/{}", run.run_id)).text(), INDEX);
}

#[test]
fn host_header_is_used_without_a_public_address() {
    let server = with_page(None);
    let run = server.accepted(|_| {});
    let image = |host: &str| format!("content=\"http://{host}/api/v1/runs/{}/card.png\"", run.run_id);
    assert!(page(&server, &run.run_id, "Board.Example:8443").contains(&image("board.example:8443")));
    assert!(page(&server, &run.run_id, "[::1]:8080").contains(&image("[::1]:8080")));
    for host in [
        "",
        "[::1",
        "[::g]",
        "a.example/x",
        "a.example\"><script>",
        "me@a.example",
        "a..example",
        "a.example\r\nhost: b.example",
    ] {
        let html = page(&server, &run.run_id, host);
        assert!(
            html.contains("og:title") && !html.contains("og:image") && !html.contains("a.example"),
            "{host}: {html}"
        );
    }
    let other = format!(
        "GET /runs/{} HTTP/1.1\r\nhost: a.example\r\nx-forwarded-host: b.example\r\nconnection: close\r\n\r\n",
        run.run_id
    );
    assert!(!server.raw(&other).contains("b.example"), "what a cache would not tell answers apart by is not read");
}

#[test]
fn the_start_page_names_an_image_of_the_declared_size() {
    let server = with_page(Some("https://board.example"));
    let html = server.get("/").text();
    let content = |name: &str| {
        let (_, rest) = html.split_once(&format!("<meta property=\"{name}\" content=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!(content("og:title"), "of the page");
    assert!(html.contains("<meta name=\"twitter:card\" content=\"summary_large_image\" />"), "{html}");
    let image = server.get(content("og:image").strip_prefix("https://board.example").unwrap());
    assert_eq!((image.status.as_u16(), image.header("content-type")), (200, "image/png"));
    let pixels = Pixmap::decode_png(&image.body).unwrap();
    let declared: [u32; 2] = ["og:image:width", "og:image:height"].map(|name| content(name).parse().unwrap());
    assert_eq!([pixels.width(), pixels.height()], declared);
}

#[test]
fn an_embed_shows_a_run_in_frames_of_any_site() {
    let server = TestServer::start();
    let run = server.proven(|_| {});
    server.proven(on("Example GPU B", 2));
    server.proven(on("Example GPU C", 3));
    let path = format!("/embed/runs/{}?theme=dark", run.run_id);
    let page = server.get(&path);
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    let html = page.text();
    for part in
        ["<html lang=\"en\" data-theme=\"dark\">", ">Example GPU 9000<", " GFLOP/s", "% of 2 devices<", ">proven<"]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
    let style = html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors *"
    );
    assert_eq!((page.header("content-security-policy"), page.header("x-frame-options")), (policy.as_str(), ""));
    assert_eq!(
        (page.header("cross-origin-resource-policy"), page.header("cache-control")),
        ("cross-origin", "no-cache")
    );
    let again = server.send("GET", &path, &[("if-none-match", page.header("etag"))], b"");
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    let head = server.send("HEAD", &path, &[], b"");
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
}

#[test]
fn an_embed_of_no_visible_run_says_so() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    server.set_tier(&run.run_id, Tier::Hidden);
    for id in [run.run_id.as_str(), "0123456789abcdef", "no-id"] {
        let page = server.get(&format!("/embed/runs/{id}"));
        assert_eq!((page.status.as_u16(), page.header("content-type")), (404, "text/html; charset=utf-8"), "{id}");
        assert!(page.text().contains("<h1>This result is not available</h1>"), "{}", page.text());
        assert!(page.header("content-security-policy").ends_with("frame-ancestors *"), "{id}");
    }
}
