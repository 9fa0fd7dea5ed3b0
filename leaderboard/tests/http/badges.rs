//! Badges, cards and embeds of a result, for other sites and link previews.

use std::collections::HashSet;
use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use results::badge::Badge;
use resvg::tiny_skia::Pixmap;
use sha2::{Digest, Sha256};

use crate::support::*;

const INDEX: &str = "<!doctype html><html><head><title>Gradmark</title>\
                     <meta property=\"og:title\" content=\"of the page\" /><script>start()</script></head><body></body></html>";

fn with_page(public_url: Option<&str>) -> TestServer {
    TestServer::with(|config, folder| {
        fs::write(folder.join("index.html"), INDEX).unwrap();
        config.page = Some(folder.to_owned());
        config.protection.public_url = public_url.map(|url| url.parse().unwrap());
    })
}

/// Returns the page of a run for a request to this host, with further lines of the head.
fn page(server: &TestServer, run_id: &str, host: &str) -> String {
    let answer = server.raw(&format!("GET /runs/{run_id} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    body.to_owned()
}

#[test]
fn badge_card_and_embed_can_be_shown_by_other_sites() {
    let server = TestServer::start();
    let run = server.proven(|_| {});
    let badge = |query: &str| server.get_run(&run, &format!("/badge.json{query}"));
    assert_eq!(badge("").parse::<serde_json::Value>()["schemaVersion"], 1, "as shields.io wants it");
    let (score, network): (Badge, Badge) = (badge("").parse(), badge("?workload=caffe-mnist").parse());
    assert_eq!((score.label.as_str(), network.label.as_str()), ("Gradmark", "Gradmark caffe-mnist"));
    assert!(score.message.ends_with(" GFLOP/s · proven"), "{}", score.message);
    assert!(network.message.starts_with("Example GPU 9000 · ") && network.message.ends_with(" samples/s · proven"));
    server.proven(on("Example GPU B", 2));
    assert!(!server.get_run(&run, "/card.svg").text().contains("Faster than"), "there is only one other device");
    server.proven(on("Example GPU C", 3));

    let api = format!("/api/v1/runs/{run}");
    let drawn = [">Example GPU 9000<", ">proven<", ">Faster than ", ">of 2 devices<"];
    let framed = ["<html lang=\"en\" data-theme=\"dark\">", ">Example GPU 9000<", "% of 2 devices<", ">proven<"];
    let show = |path: &str, kind: &str, parts: &[&str]| {
        let answer = server.get(path).with_status(200);
        answer.assert_headers(&[("content-type", kind), ("cache-control", "no-cache")]);
        answer.assert_headers(&[("cross-origin-resource-policy", "cross-origin")]);
        assert_says(&answer.text(), parts);
        assert_eq!(server.get_with(path, "if-none-match", answer.header("etag")).with_status(304).body.len(), 0);
        answer
    };
    show(&format!("{api}/badge.svg?workload=caffe-mnist"), "image/svg+xml", &[&network.message]);
    show(&format!("{api}/card.svg"), "image/svg+xml", &drawn);
    let picture = show(&format!("{api}/card.png"), "image/png", &[]);
    let embed = show(&format!("/embed/runs/{run}?theme=dark"), "text/html; charset=utf-8", &framed);

    assert_eq!(server.send("HEAD", &format!("/embed/runs/{run}"), &[], b"").with_status(200).body.len(), 0);
    let html = embed.text();
    assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
    let style = html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors *"
    );
    embed.assert_headers(&[("content-security-policy", &policy), ("x-frame-options", "")]);

    picture.assert_headers(&[("access-control-allow-origin", "*")]);
    let pixels = Pixmap::decode_png(&picture.body).unwrap();
    assert_eq!((pixels.width(), pixels.height()), (1200, 630));
    let colors: HashSet<[u8; 4]> = pixels.pixels().iter().map(|p| [p.red(), p.green(), p.blue(), p.alpha()]).collect();
    assert!(colors.len() > 100, "letters have smooth edges: {} colors", colors.len());
    assert_ne!(server.get_run(&server.accepted(|_| {}).run_id, "/card.png").body, picture.body);
    assert_eq!(server.another().get_run(&run, "/card.png").body, picture.body, "every server draws the same");
    server.set_tier(&run, Tier::Flagged);
    let changed = server.get_with(&format!("{api}/card.png"), "if-none-match", picture.header("etag"));
    assert_ne!(changed.with_status(200).body, picture.body);
    let flagged: Badge = badge("").parse();
    assert!(flagged.message.ends_with("flagged") && flagged.color != score.color);
}

#[test]
fn pictures_name_failures_and_are_refused_for_unknown_runs() {
    let server = TestServer::start();
    let run = server.accepted(|record| record::diverge(&mut record.workloads[1]));
    let note = results::api::Note::NotCompleted { workload: "caffe-mnist".to_owned() };
    assert!(run.verdict.tier == Tier::Checked && run.verdict.notes.contains(&note), "{run:?}");
    assert!(note.to_string().contains("caffe-mnist was not completed"), "{note}");
    let run = run.run_id.as_str();
    let listed = server.list("");
    assert_eq!(listed.rows.iter().map(|row| row.workload.as_str()).collect::<Vec<_>>(), ["keras-mnist-mlp"]);
    assert_eq!(server.stored(run).record.workloads.len(), 2);

    let badge: Badge = server.get_run(run, "/badge.json?workload=caffe-mnist").parse();
    assert!(badge.message.contains("not completed"), "{}", badge.message);
    assert!(server.get_run(run, "/card.svg").text().contains(">It diverged at step 5,000.<"));
    for kind in ["/badge.svg", "/badge.json"] {
        for (query, status, code, field) in [
            ("?workload=unheard-of", 404, "unknown_workload", "workload"),
            ("?workload=%00", 400, "bad_query", "workload"),
            ("?colour=red", 400, "bad_query", ""),
        ] {
            server.get_run(run, &format!("{kind}{query}")).assert_refused(status, code, field);
        }
    }
    server.set_tier(run, Tier::Hidden);
    for id in [run, "0123456789abcdef", "no-id"] {
        for ending in ["/badge.svg", "/badge.json", "/card.png", "/card.svg"] {
            server.get_run(id, ending).assert_refused(404, "unknown_run", "");
        }
        let page = server.get(&format!("/embed/runs/{id}")).with_status(404);
        page.assert_headers(&[("content-type", "text/html; charset=utf-8")]);
        assert!(page.text().contains("<h1>This result is not available</h1>"), "{}", page.text());
        assert!(page.header("content-security-policy").ends_with("frame-ancestors *"), "{id}");
    }
}

#[test]
fn page_of_a_run_describes_it_to_previews() {
    let server = with_page(Some("https://board.example"));
    let run = server.proven(|_| {});
    let html = page(&server, &run, "evil.example");
    for (name, content) in [
        ("property=\"og:type\"", "website".to_owned()),
        ("property=\"og:title\"", "Example GPU 9000 on Gradmark".to_owned()),
        ("property=\"og:url\"", format!("https://board.example/runs/{run}")),
        ("property=\"og:image\"", format!("https://board.example/api/v1/runs/{run}/card.png")),
        ("property=\"og:image:width\"", "1200".to_owned()),
        ("property=\"og:image:height\"", "630".to_owned()),
        ("name=\"twitter:card\"", "summary_large_image".to_owned()),
    ] {
        let tag = format!("<meta {name} content=\"{content}\" />");
        assert_eq!(html.matches(&format!("<meta {name}")).count(), 1, "{html}");
        assert!(html.contains(&tag), "{tag} is missing in {html}");
    }
    assert!(html.contains("<meta property=\"og:description\" content=\"Gradmark "), "{html}");
    assert!(html.contains("<script>start()</script>"), "{html}");
    assert!(!html.contains("of the page") && !html.contains("evil"), "{html}");
    let path = format!("/runs/{run}");
    let answer = server.get(&path);
    // The policy has the hash of its script.
    answer.assert_headers(&[("content-security-policy", server.get("/").header("content-security-policy"))]);
    answer.assert_headers(&[("cache-control", "no-cache"), ("content-type", "text/html; charset=utf-8")]);
    assert_eq!(server.send("HEAD", &path, &[], b"").with_status(200).body.len(), 0);

    // Other pages have the general tags, with an image of the declared size.
    server.set_tier(&run, Tier::Hidden);
    for path in ["/runs/0123456789abcdef", "/runs/0123", "/about", &path] {
        let html = server.get(path).text();
        assert!(html.contains("of the page") && !html.contains("Example GPU"), "{path}: {html}");
    }
    let html = server.get("/").text();
    let content = |name: &str| {
        let (_, rest) = html.split_once(&format!("<meta property=\"{name}\" content=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!(content("og:title"), "of the page");
    assert!(html.contains("<meta name=\"twitter:card\" content=\"summary_large_image\" />"), "{html}");
    let image = server.get(content("og:image").strip_prefix("https://board.example").unwrap()).with_status(200);
    image.assert_headers(&[("content-type", "image/png")]);
    let pixels = Pixmap::decode_png(&image.body).unwrap();
    let declared: [u32; 2] = ["og:image:width", "og:image:height"].map(|name| content(name).parse().unwrap());
    assert_eq!([pixels.width(), pixels.height()], declared);

    // No name is markup.
    let name = "</head><script>alert(\"1\")</script>' & <b>";
    let run = server.accepted(|record| {
        record.device.adapter.name = name.to_owned();
        record.device.claimed_name = Some(name.to_owned());
    });
    let html = page(&server, &run.run_id, "here");
    assert_eq!((html.matches("</head>").count(), html.matches("<script").count()), (1, 1), "{html}");
    let escaped = "&lt;/head&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; &amp; &lt;b&gt;";
    assert!(html.contains(&format!("<meta property=\"og:title\" content=\"{escaped} on Gradmark\" />")), "{html}");
    let picture = server.get_run(&run.run_id, "/badge.svg").text();
    assert!(picture.contains("&lt;script&gt;") && !picture.contains("<script"), "{picture}");
    let badge: Badge = server.get_run(&run.run_id, "/badge.json").parse();
    assert!(badge.message.starts_with("</head><script>alert(\"1\")</script>' & <b"), "{}", badge.message);
}

#[test]
fn host_header_is_used_without_a_public_address() {
    let server = with_page(None);
    let run = server.accepted(|_| {}).run_id;
    assert_eq!(server.get("/about").text(), INDEX);
    let image = |host: &str| format!("content=\"http://{host}/api/v1/runs/{run}/card.png\"");
    assert!(page(&server, &run, "Board.Example:8443").contains(&image("board.example:8443")));
    assert!(page(&server, &run, "[::1]:8080").contains(&image("[::1]:8080")));
    let twice = "a.example\r\nhost: b.example";
    for host in ["", "[::1", "[::g]", "a.example/x", "a.example\"><script>", "me@a.example", "a..example", twice] {
        let html = page(&server, &run, host);
        assert!(html.contains("og:title") && !html.contains("og:image"), "{host}: {html}");
        assert!(!html.contains("a.example"), "{host}: {html}");
    }
    // A cache would not tell answers apart by it.
    assert!(!page(&server, &run, "a.example\r\nx-forwarded-host: b.example").contains("b.example"));
}
