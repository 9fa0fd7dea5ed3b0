//! The page and the data sets: files, caching, compression, and headers on every answer.

use std::fs::{self, File};

use results::api::{DataSetList, ServedDataSet};
use results::open_data::SnapshotList;
use serde_json::Value;

use crate::support::*;

const INDEX: &str =
    "<!doctype html><title>Gradmark</title><script type=\"module\">\nimport init from '/app.js';\n</script>";
const SCRIPT: &str = "/app-1f0c4be2a9d3e587.js";
const MODULE: &str = "/app-1f0c4be2a9d3e587_bg.wasm";

/// Returns a server with a page as `cargo xtask` builds it, a data set, and a secret file next to their folders.
fn server() -> TestServer {
    TestServer::with(|config, folder| {
        let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
        fs::create_dir_all(folder.join("dist/worker-0123456789abcdef")).unwrap();
        fs::create_dir(folder.join("data")).unwrap();
        write("secret.txt", b"not for anyone");
        write("dist/index.html", INDEX.as_bytes());
        write("dist/app.js", &b"let a = 1; ".repeat(1000));
        write(&format!("dist{SCRIPT}"), &b"let b = 2; ".repeat(1000));
        write(&format!("dist{MODULE}"), &b"\0asm wasm ".repeat(1000));
        write(&format!("dist{MODULE}.br"), b"brotli, as the build made it");
        write("dist/style.css", b"body { color: black }");
        write("dist/burn.json", br#"{"state":"building","note":"compiling Burn for the page"}"#);
        write("dist/worker-0123456789abcdef/loader.js", b"importScripts('worker.js')");
        write("data/.verified.json", b"not for anyone");
        write("data/mnist.bin", &[7; 5000]);
        write("data/mnist.bin.gz", b"gzip, as the conversion made it");
        (config.page, config.data) = (Some(folder.join("dist")), Some(folder.join("data")));
    })
}

#[test]
fn paths_lead_to_the_index_or_nowhere_and_never_out_of_the_folders() {
    let server = server();
    let pages = "/ /index.html /docs/PRIVACY /devices/example-gpu /leaderboard /tab-speedrun /side-by-side?runs=a,b \
                 /runs/0123456789abcdef/delete";
    let missing = "/about /a/b/c?x=1 /runs/zzz /runs/0123456789abcdef";
    let paths = pages.split(' ').map(|path| (path, 200)).chain(missing.split(' ').map(|path| (path, 404)));
    for (path, status) in paths {
        let answer = server.get(path);
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (status, INDEX), "{path}");
        answer.assert_headers(&[("content-type", "text/html; charset=utf-8"), ("cache-control", "no-cache")]);
    }
    for path in ["/missing.js", "/runs/missing.wasm", "/data/missing.bin", "/data/missing", "/data/", "/data"] {
        server.get(path).with_status(404).assert_headers(&[("cache-control", "")]);
    }
    assert_eq!(server.send("POST", "/about", &[], b"x").status, 405);

    assert!(server.folder().join("secret.txt").exists());
    let outside = "/../secret.txt /data/../secret.txt /data/../../secret.txt /..%2fsecret.txt /%2e%2e/secret.txt \
                   /data/%2e%2e/secret.txt /data/%2e%2e%2fsecret.txt /data/..%5csecret.txt /data//etc/passwd \
                   //etc/passwd /data/.verified.json /data/%2Everified.json /data/%00 /data/mnist.bin%00.html \
                   /data/mnist.bin/ /api/v1/runs/..%2f..%2fsecret.txt";
    for path in outside.split(' ') {
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 4") || answer.contains("<title>Gradmark"), "{path}: {answer}");
        assert!(!answer.contains("not for anyone") && !answer.contains("root:"), "{path}: {answer}");
    }
}

#[test]
fn files_have_types_encodings_and_cache_lifetimes() {
    let server = server();
    let for_ever = "public, max-age=31536000, immutable";
    for (path, kind, caching) in [
        (SCRIPT, "text/javascript", for_ever),
        (MODULE, "application/wasm", for_ever),
        ("/app.js", "text/javascript", "no-cache"),
        ("/style.css", "text/css", "no-cache"),
        ("/worker-0123456789abcdef/loader.js", "text/javascript", for_ever),
        ("/data/mnist.bin", "application/octet-stream", for_ever),
    ] {
        let answer = server.get(path).with_status(200);
        answer.assert_headers(&[("content-type", kind), ("cache-control", caching)]);
        assert_eq!(server.send("HEAD", path, &[], b"").with_status(200).body.len(), 0, "{path}");
        server.get_with(path, "if-modified-since", answer.header("last-modified")).with_status(304);
    }
    assert_eq!(server.get_with("/data/mnist.bin", "range", "bytes=10-19").with_status(206).body, vec![7; 10]);

    let accepting = |path: &str, encodings: &str| server.get_with(path, "accept-encoding", encodings);
    let module = accepting(MODULE, "gzip, br");
    assert_eq!(module.text(), "brotli, as the build made it");
    module.assert_headers(&[("content-encoding", "br"), ("content-type", "application/wasm")]);
    assert!(module.header("vary").contains("accept-encoding"), "{}", module.header("vary"));
    for path in [SCRIPT, MODULE, "/"] {
        assert_eq!(accepting(path, "gzip").unpacked(), server.get(path).body, "{path}");
    }
    accepting("/api/v1/schema", "br, gzip").unpacked();
    let data = accepting("/data/mnist.bin", "gzip, br");
    assert_eq!(data.text(), "gzip, as the conversion made it");
    data.assert_headers(&[("content-encoding", "gzip")]);
    let data = accepting("/data/mnist.bin", "br");
    data.assert_headers(&[("content-encoding", "")]);
    assert_eq!(data.body, vec![7; 5000]);

    // A file that is replaced twice within a second has the same `last-modified`: a browser with a cached copy would
    // never see the second version.
    let first = server.get("/burn.json");
    first.assert_headers(&[("content-type", "application/json"), ("cache-control", "no-store")]);
    assert!(first.text().contains("building"), "{}", first.text());

    let ready = r#"{"state":"ready","bundles":[]}"#;
    let file = |name: &str| server.folder().join("dist").join(name);
    fs::write(file("new.json"), ready).unwrap();
    fs::rename(file("new.json"), file("burn.json")).unwrap();
    let second = server.get("/burn.json");
    assert_eq!(second.text(), ready);
    second.assert_headers(&[("cache-control", "no-store")]);

    fs::remove_file(file("burn.json")).unwrap();
    assert_eq!(server.get("/burn.json").status, 404, "and not the page's index");
}

#[test]
fn every_answer_has_security_headers_that_follow_the_index() {
    let server = server();
    let files = ["/", MODULE, "/data/mnist.bin", "/data/missing", "/missing.js", "/healthz"];
    let files = files.map(|path| ("GET", path, "same-origin"));
    let calls = ["/api/v1/runs", "/api/nothing"].map(|path| ("GET", path, "cross-origin"));
    let writes = ["POST", "BREW"].map(|method| (method, "/api/v1/runs", "same-origin"));
    for (method, path, resource_policy) in files.into_iter().chain(calls).chain(writes) {
        let answer = server.send(method, path, &[], b"");
        answer.assert_headers(&[
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-embedder-policy", "require-corp"),
            ("cross-origin-resource-policy", resource_policy),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("strict-transport-security", ""),
        ]);
        assert!(answer.header("permissions-policy").contains("geolocation=()"));
        let policy = answer.header("content-security-policy");
        assert_says(policy, &["script-src 'self' 'wasm-unsafe-eval' 'sha256-", "style-src 'self'"]);
        assert_says(policy, &["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"]);
        for forbidden in ["unsafe-inline", "'unsafe-eval'", "*"] {
            assert!(!policy.contains(forbidden), "{policy}");
        }
    }

    let first = server.get("/").header("content-security-policy").to_owned();
    assert_eq!(first.matches("'sha256-").count(), 1, "{first}");
    let changed = INDEX.replace("import init", "/* rebuilt */ import init") + "<script>second()</script>";
    fs::write(server.folder().join("dist/index.html"), &changed).unwrap();
    let answer = server.get("/");
    assert_eq!(answer.text(), changed);
    let second = answer.header("content-security-policy");
    assert_eq!(second.matches("'sha256-").count(), 2, "{second}");
    let hash = |policy: &str| policy.split("'sha256-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
    assert_ne!(hash(&first), hash(second));

    fs::remove_file(server.folder().join("dist/index.html")).unwrap();
    assert_eq!(server.get("/").status, 503, "a page that is being rebuilt");
    assert_eq!(server.get("/api/v1/runs").status, 200);
}

/// File names and sizes as in `reference/data-sets.json`.
const MNIST: [(&str, u64); 2] = [("mnist-train.bin", 47_100_032), ("mnist-test.bin", 7_850_032)];
const CIFAR10: [(&str, u64); 2] = [("cifar10-train.bin", 153_650_032), ("cifar10-test.bin", 30_730_032)];
const MOBY_DICK: [(&str, u64); 2] = [("moby-dick-train.bin", 1_071_318), ("moby-dick-test.bin", 119_063)];

fn listed(server: &TestServer) -> Vec<(String, Option<String>)> {
    let answer = server.get("/api/v1/data-sets").with_status(200);
    answer.assert_headers(&[("cache-control", "no-cache")]);
    let list: DataSetList = answer.parse();
    list.data_sets.into_iter().map(|ServedDataSet { name, missing }| (name, missing)).collect()
}

#[test]
fn server_reports_missing_data_sets_as_files_come_and_go() {
    let server = TestServer::with(|config, folder| config.data = Some(folder.to_owned()));
    let advice = "`native-runner fetch-data` or, in a checkout, `cargo xtask data` fetches it";
    let missing = |file: &str| Some(format!("{file} is missing in its data folder; {advice}"));
    let are_listed = |states: [Option<String>; 3]| {
        let names = ["mnist", "cifar10", "moby-dick"].map(str::to_owned);
        assert!(listed(&server).into_iter().eq(names.into_iter().zip(states)), "{:?}", listed(&server));
    };
    are_listed([MNIST, CIFAR10, MOBY_DICK].map(|files| missing(files[0].0)));
    assert_eq!(server.get("/data/mnist-train.bin").status, 404);
    // A sparse file takes no space on most file systems.
    let put = |(file, bytes): (&str, u64)| {
        File::create(server.folder().join(file)).unwrap().set_len(bytes).unwrap();
    };
    MNIST.into_iter().chain(MOBY_DICK).for_each(put);
    put(CIFAR10[0]);
    are_listed([None, missing(CIFAR10[1].0), None]);
    put((CIFAR10[1].0, 1000));
    let truncated = listed(&server)[1].1.clone().unwrap();
    let told = "cifar10-test.bin in its data folder has 1000 bytes instead of 30730032";
    assert!(truncated.contains(told), "{truncated}");
    put(CIFAR10[1]);
    are_listed([None, None, None]);
    fs::remove_file(server.folder().join(MNIST[1].0)).unwrap();
    are_listed([missing(MNIST[1].0), None, None]);
}

#[test]
fn without_a_page_or_data_there_is_still_the_api() {
    let server = TestServer::start();
    assert_eq!(server.get("/").status, 404);
    assert_eq!(server.get("/data/mnist.bin").status, 404);
    assert_eq!(server.get("/snapshots/gradmark-2027-01-15.parquet").status, 404);
    assert!(server.read::<SnapshotList>("/api/v1/snapshots").snapshots.is_empty());
    assert_eq!(server.get("/api/v1/runs").status, 200);
    for (name, missing) in listed(&server) {
        assert_eq!(missing.as_deref(), Some("it was started without a data folder (`--data`)"), "{name}");
    }
    // People find a page that the policy lets them see.
    let page = server.get("/api").with_status(200);
    page.assert_headers(&[("content-type", "text/html; charset=utf-8")]);
    assert!(page.text().contains("<h2><code>GET /api/v1/runs/{id}/verdict</code></h2>"), "{}", page.text());
    assert!(server.get("/api/nothing").assert_refused(404, "unknown_route", "").contains("/api"));
    // The schema describes what the server takes.
    let schema = server.get("/api/v1/schema").with_status(200);
    schema.assert_headers(&[("content-type", "application/schema+json")]);
    let checked_in = include_str!("../../../results/schema/run-record.schema.json");
    assert_eq!(schema.parse::<Value>(), serde_json::from_str::<Value>(checked_in).unwrap());
}

#[test]
fn every_documented_call_is_there_and_no_other_method_is() {
    let server = TestServer::start();
    let answer = server.get("/api/v1/openapi.json").with_status(200);
    answer.assert_headers(&[("content-type", "application/json")]);
    let document: Value = answer.parse();
    for (path, item) in document["paths"].as_object().unwrap() {
        let address = path.replace("{id}", "0123456789abcdef").replace("{key}", "nothing");
        let address = address.replace("{workload}", "caffe-mnist").replace("{step}", "0");
        for method in ["get", "put", "post", "delete"] {
            let answer = server.send(&method.to_uppercase(), &address, &[], b"");
            let documented = item.get(method).is_some();
            assert_eq!(answer.status != 405, documented, "{method} {path}: {}", answer.text());
            if !documented {
                answer.assert_refused(405, "method_not_allowed", "");
                let allowed = answer.header("allow").to_lowercase();
                assert!(item.as_object().unwrap().keys().any(|other| allowed.contains(other)), "{method} {path}");
                continue;
            }
            assert!(!answer.text().contains("unknown_route"), "{method} {path}");
            let status = answer.status.as_u16().to_string();
            let response = &item[method]["responses"][&status];
            assert!(response.is_object(), "{method} {path} answers {status}, which is not in the document");
            if let Some(codes) = response["x-codes"].as_array() {
                let code = answer.parse::<ErrorBody>().code;
                assert!(codes.contains(&Value::from(code.as_str())), "{method} {path}: {code}");
            }
        }
    }
}
