//! The page and the data sets: files, caching, compression, and headers on every answer.

use std::fs;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use results::api::{DataSetList, ServedDataSet};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, TestServer};

const INDEX: &str =
    "<!doctype html><title>Gradmark</title><script type=\"module\">\nimport init from '/app.js';\n</script>";
const SCRIPT: &str = "/app-1f0c4be2a9d3e587.js";
const MODULE: &str = "/app-1f0c4be2a9d3e587_bg.wasm";

/// Returns a folder with a page as `cargo xtask` builds it, a data set, and a secret file.
fn site() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    fs::create_dir(folder.path().join("dist")).unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    write("secret.txt", b"not for anyone");
    write("dist/index.html", INDEX.as_bytes());
    write("dist/app.js", &b"let a = 1; ".repeat(1000));
    write(&format!("dist{SCRIPT}"), &b"let b = 2; ".repeat(1000));
    write(&format!("dist{MODULE}"), &b"\0asm wasm ".repeat(1000));
    write(&format!("dist{MODULE}.br"), b"brotli, as the build made it");
    write("dist/style.css", b"body { color: black }");
    write("dist/burn.json", br#"{"state":"building","note":"compiling Burn for the page"}"#);
    fs::create_dir(folder.path().join("dist/worker-0123456789abcdef")).unwrap();
    write("dist/worker-0123456789abcdef/loader.js", b"importScripts('worker.js')");
    write("data/.verified.json", b"not for anyone");
    write("data/mnist.bin", &[7; 5000]);
    write("data/mnist.bin.gz", b"gzip, as the conversion made it");
    folder
}

fn server() -> TestServer {
    TestServer::with_folders(site(), Some("dist"), Some("data"))
}

#[track_caller]
fn assert_header(answer: &Answer, name: &str, value: &str) {
    assert_eq!(answer.header(name), value, "{name}");
}

#[test]
fn index_is_served_for_all_paths_and_404_where_they_lead_nowhere() {
    let server = server();
    for (path, status) in [
        ("/", 200),
        ("/index.html", 200),
        ("/docs/PRIVACY", 200),
        ("/devices/example-gpu", 200),
        ("/leaderboard", 200),
        ("/side-by-side?runs=a,b", 200),
        ("/about", 404),
        ("/a/b/c?x=1", 404),
        ("/runs/zzz", 404),
        ("/runs/0123456789abcdef", 404),
        ("/runs/0123456789abcdef/delete", 200),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (status, INDEX), "{path}");
        assert_header(&answer, "content-type", "text/html; charset=utf-8");
        assert_header(&answer, "cache-control", "no-cache");
    }
    for path in ["/missing.js", "/runs/missing.wasm", "/data/missing.bin", "/data/missing", "/data/", "/data"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert_header(&answer, "cache-control", "");
    }
    assert_eq!(server.send("POST", "/about", &[], b"x").status, 405);
}

#[test]
fn files_have_types_and_cache_lifetimes() {
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
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_header(&answer, "content-type", kind);
        assert_header(&answer, "cache-control", caching);
        let head = server.send("HEAD", path, &[], b"");
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0), "{path}");
        let again = server.send("GET", path, &[("if-modified-since", answer.header("last-modified"))], b"");
        assert_eq!(again.status, 304, "{path}");
    }
    let part = server.send("GET", "/data/mnist.bin", &[("range", "bytes=10-19")], b"");
    assert_eq!((part.status.as_u16(), part.body), (206, vec![7; 10]));
}

/// A file that is replaced twice within a second has the same `last-modified`: a browser with a cached copy would never
/// see the second version.
#[test]
fn burn_status_is_not_cached() {
    let server = server();
    let first = server.get("/burn.json");
    assert_header(&first, "content-type", "application/json");
    assert_header(&first, "cache-control", "no-store");
    assert!(first.text().contains("building"), "{}", first.text());

    let ready = r#"{"state":"ready","folder":"burn-0123456789abcdef","compressed_bytes":3440000,"bytes":12000000}"#;
    fs::write(server.folder().join("dist/new.json"), ready).unwrap();
    fs::rename(server.folder().join("dist/new.json"), server.folder().join("dist/burn.json")).unwrap();
    let second = server.get("/burn.json");
    assert_eq!(second.text(), ready);
    assert_header(&second, "cache-control", "no-store");

    fs::remove_file(server.folder().join("dist/burn.json")).unwrap();
    assert_eq!(server.get("/burn.json").status, 404, "and not the page's index");
}

#[test]
fn precompressed_files_are_served_as_they_are() {
    let server = server();
    let module = server.get_accepting(MODULE, "gzip, br");
    assert_eq!(module.text(), "brotli, as the build made it");
    assert_header(&module, "content-encoding", "br");
    assert_header(&module, "content-type", "application/wasm");
    assert!(module.header("vary").contains("accept-encoding"), "{}", module.header("vary"));

    for path in [SCRIPT, MODULE, "/"] {
        let answer = server.get_accepting(path, "gzip");
        assert_header(&answer, "content-encoding", "gzip");
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(answer.body.as_slice()).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, server.get(path).body, "{path}");
    }
    let list = server.get_accepting("/api/v1/schema", "br, gzip");
    assert_header(&list, "content-encoding", "gzip");

    let data = server.get_accepting("/data/mnist.bin", "gzip, br");
    assert_eq!(data.text(), "gzip, as the conversion made it");
    assert_header(&data, "content-encoding", "gzip");
    let data = server.get_accepting("/data/mnist.bin", "br");
    assert_header(&data, "content-encoding", "");
    assert_eq!(data.body, vec![7; 5000]);
}

#[test]
fn every_answer_has_the_security_headers() {
    let server = server();
    let answers = [
        server.get("/"),
        server.get(MODULE),
        server.get("/data/mnist.bin"),
        server.get("/data/missing"),
        server.get("/missing.js"),
        server.get("/healthz"),
        server.get("/api/v1/runs"),
        server.get("/api/nothing"),
        server.send("POST", "/api/v1/runs", &[], b"x"),
        server.send("BREW", "/api/v1/runs", &[], b""),
    ];
    for answer in &answers {
        assert_header(answer, "cross-origin-opener-policy", "same-origin");
        assert_header(answer, "cross-origin-embedder-policy", "require-corp");
        assert_header(answer, "x-content-type-options", "nosniff");
        assert_header(answer, "referrer-policy", "no-referrer");
        assert!(answer.header("permissions-policy").contains("geolocation=()"));
        let policy = answer.header("content-security-policy");
        for part in ["default-src 'none'", "connect-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe-inline") && !policy.contains("*"), "{policy}");
    }
    assert_header(&answers[0], "cross-origin-resource-policy", "same-origin");
    assert_header(&answers[1], "cross-origin-resource-policy", "same-origin");
    assert_header(&answers[6], "cross-origin-resource-policy", "cross-origin");
}

#[test]
fn the_policy_follows_the_inline_scripts_of_the_index() {
    let server = server();
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

#[test]
fn no_path_leads_out_of_the_folders() {
    let server = server();
    assert!(Path::new(&server.folder().join("secret.txt")).exists());
    for path in [
        "/../secret.txt",
        "/data/../secret.txt",
        "/data/../../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/data/%2e%2e/secret.txt",
        "/data/%2e%2e%2fsecret.txt",
        "/data/..%5csecret.txt",
        "/data//etc/passwd",
        "//etc/passwd",
        "/data/.verified.json",
        "/data/%2Everified.json",
        "/data/%00",
        "/data/mnist.bin%00.html",
        "/data/mnist.bin/",
        "/api/v1/runs/..%2f..%2fsecret.txt",
    ] {
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 4") || answer.contains("<title>Gradmark"), "{path}: {answer}");
        assert!(!answer.contains("not for anyone") && !answer.contains("root:"), "{path}: {answer}");
    }
}

#[test]
fn without_a_page_there_is_still_the_api() {
    let server = TestServer::start();
    assert_eq!(server.get("/").status, 404);
    assert_eq!(server.get("/data/mnist.bin").status, 404);
    assert_eq!(server.get("/api/v1/runs").status, 200);
}

/// File names and sizes as in `reference/data-sets.json`.
const MNIST: [(&str, u64); 2] = [("mnist-train.bin", 47_100_032), ("mnist-test.bin", 7_850_032)];
const CIFAR10: [(&str, u64); 2] = [("cifar10-train.bin", 153_650_032), ("cifar10-test.bin", 30_730_032)];

fn server_with_empty_data_folder() -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    TestServer::with_folders(folder, None, Some("data"))
}

/// Creates a sparse file of this size, which takes no space on most file systems.
fn put(server_with_empty_data_folder: &TestServer, (file, bytes): (&str, u64)) {
    File::create(server_with_empty_data_folder.folder().join("data").join(file)).unwrap().set_len(bytes).unwrap();
}

/// Returns the names of the data sets, each with the reason why it is missing.
fn listed(server_with_empty_data_folder: &TestServer) -> Vec<(String, Option<String>)> {
    let answer = server_with_empty_data_folder.get("/api/v1/data-sets");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), "no-cache");
    let list: DataSetList = answer.parse();
    list.data_sets.into_iter().map(|ServedDataSet { name, missing }| (name, missing)).collect()
}

#[test]
fn server_reports_missing_data_sets() {
    let server_with_empty_data_folder = server_with_empty_data_folder();
    let advice = "`native-runner fetch-data` or, in a checkout, `cargo xtask data` fetches it";
    let missing = |file: &str| Some(format!("{file} is missing in its data folder; {advice}"));
    assert_eq!(
        listed(&server_with_empty_data_folder),
        [("mnist".to_owned(), missing("mnist-train.bin")), ("cifar10".to_owned(), missing("cifar10-train.bin")),]
    );
    assert_eq!(server_with_empty_data_folder.get("/data/mnist-train.bin").status, 404);
}

#[test]
fn files_that_come_while_the_server_runs_are_seen() {
    let server_with_empty_data_folder = server_with_empty_data_folder();
    MNIST.into_iter().for_each(|file| put(&server_with_empty_data_folder, file));
    put(&server_with_empty_data_folder, CIFAR10[0]);
    let list = listed(&server_with_empty_data_folder);
    assert_eq!(list[0], ("mnist".to_owned(), None));
    let reason = list[1].1.as_deref().unwrap();
    assert!(reason.starts_with("cifar10-test.bin is missing"), "{reason}");

    put(&server_with_empty_data_folder, (CIFAR10[1].0, 1000));
    let truncated = listed(&server_with_empty_data_folder)[1].1.clone().unwrap();
    assert!(
        truncated.contains("cifar10-test.bin in its data folder has 1000 bytes instead of 30730032"),
        "{truncated}"
    );

    put(&server_with_empty_data_folder, CIFAR10[1]);
    assert_eq!(listed(&server_with_empty_data_folder)[1], ("cifar10".to_owned(), None));
    fs::remove_file(server_with_empty_data_folder.folder().join("data").join(MNIST[1].0)).unwrap();
    assert!(listed(&server_with_empty_data_folder)[0].1.as_deref().unwrap().starts_with("mnist-test.bin is missing"));
}

#[test]
fn a_server_without_a_data_folder_says_so() {
    let server_with_empty_data_folder = TestServer::start();
    for (name, missing) in listed(&server_with_empty_data_folder) {
        assert_eq!(missing.as_deref(), Some("it was started without a data folder (`--data`)"), "{name}");
    }
}

#[test]
fn every_documented_call_is_there_and_no_other_method_is() {
    let server = TestServer::start();
    let answer = server.get("/api/v1/openapi.json");
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/json"));
    let document: Value = answer.parse();
    for (path, item) in document["paths"].as_object().unwrap() {
        let address = path
            .replace("{id}", "0123456789abcdef")
            .replace("{key}", "nothing")
            .replace("{workload}", "caffe-mnist")
            .replace("{step}", "0");
        for method in ["get", "put", "post", "delete"] {
            let answer = server.send(&method.to_uppercase(), &address, &[], b"");
            let documented = item.get(method).is_some();
            assert_eq!(answer.status != 405, documented, "{method} {path}: {}", answer.text());
            assert!(!answer.text().contains("unknown_route"), "{method} {path}");
            let status = answer.status.as_u16().to_string();
            let Some(call) = item.get(method) else { continue };
            let response = &call["responses"][&status];
            assert!(response.is_object(), "{method} {path} answers {status}, which is not in the document");
            if let Some(codes) = response["x-codes"].as_array() {
                let code = answer.parse::<results::api::ErrorBody>().code;
                assert!(codes.contains(&Value::from(code.as_str())), "{method} {path}: {code}");
            }
        }
    }
}

#[test]
fn people_find_a_page_that_the_policy_lets_them_see() {
    let server = TestServer::start();
    let page = server.get("/api");
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.text().contains("<h2><code>GET /api/v1/runs/{id}/verdict</code></h2>"), "{}", page.text());
    assert!(server.get("/api/nothing").assert_refused(404, "unknown_route", "").message.contains("/api"));
}
