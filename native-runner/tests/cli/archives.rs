//! Archives of `cargo xtask dist`, unpacked in an empty folder and used without other files. `GRADMARK_ARCHIVES` is the
//! folder with the archives (`cargo xtask test --all` and `dist --try` set it).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use results::api::{StoredRun, Tier};
use tempfile::TempDir;

use crate::support::*;

/// Unpacks the only archive with this name and version in the folder, and returns its single folder.
fn unpacked(archives: &OsStr, name: &str, into: &Path) -> PathBuf {
    let start = format!("{name}-{}-", env!("CARGO_PKG_VERSION"));
    let names = fs::read_dir(archives).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let folders = names.filter_map(|name| name.strip_suffix(".tar.gz").map(str::to_owned));
    let folders: Vec<String> = folders.filter(|folder| folder.starts_with(&start)).collect();
    let [folder] = folders.as_slice() else { panic!("one {name} archive is expected, and there are {folders:?}") };
    let archive = Path::new(archives).join(format!("{folder}.tar.gz"));
    done(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into));
    into.join(folder)
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(format!("{}{}", program.display(), env::consts::EXE_SUFFIX));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    // Without it, Windows starts no program that uses the network.
    command.envs(env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
    command
}

#[track_caller]
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}:\n{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn get(leaderboard: &RealLeaderboard, path: &str) -> ureq::http::Response<ureq::Body> {
    ureq::get(format!("{}{path}", leaderboard.url)).config().proxy(None).build().call().expect(path)
}

/// Returns Burn on the processor if the program has it, because that tests the stripped program; otherwise the backend
/// that every program has.
fn backend(listed: &str) -> &'static str {
    let listed: Vec<serde_json::Value> = serde_json::from_str(listed).unwrap();
    let has = |name: &str| listed.iter().any(|one| one["name"] == name && one["built"] == true && one["runs"] == true);
    if has("burn-flex") { "burn-flex" } else { "reference" }
}

#[test]
#[ignore = "needs the archives"]
fn the_archives_work_where_nothing_else_is() {
    let Some(archives) = env::var_os("GRADMARK_ARCHIVES") else {
        let why = "GRADMARK_ARCHIVES names no archives; `cargo xtask test --all` and `cargo xtask dist --try` do";
        return skipped(why);
    };
    let place = TempDir::new().unwrap();
    let [server_folder, runner_folder] = ["server", "runner"].map(|name| {
        let folder = place.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    });
    let [server, runner] = ["gradmark-server", "native-runner"].map(|name| unpacked(&archives, name, place.path()));
    expect_files(&server, &["README.md", "HOSTING.md", "PRIVACY.md", "OPEN-DATA.md", "Containerfile"]);
    expect_files(&server, &["systemd/gradmark.service", "proxy/Caddyfile"]);
    expect_files(&runner, &["README.md", "completions/_native-runner", "man/native-runner.1"]);
    expect_files(&runner, &["man/native-runner-upload.1"]);
    for folder in [&server, &runner] {
        expect_files(folder, &["LICENSE-MIT", "LICENSE-APACHE", "LICENSES-OF-LIBRARIES.txt"]);
    }

    // Starts the unpacked server as its README does, but on a free port.
    let mut serve = command(&server.join("leaderboard"), &server_folder);
    serve.arg("--page").arg(server.join("page")).arg("--data").arg(server.join("data"));
    let leaderboard = RealLeaderboard::start(&mut serve);
    expect_page(&leaderboard);
    let runner = |arguments: &str| {
        let mut command = command(&runner.join("native-runner"), &runner_folder);
        command.args(arguments.split_whitespace());
        command
    };
    done(runner("fetch-data mnist --data data --from").arg(&leaderboard.url));
    let backend = backend(&done(&mut runner("backends --json")));
    let line = "--workload keras-mnist-mlp --steps 3 --batch-size 16 --json kept.json --yes --backend";
    let said = done(runner(line).args([backend, "--upload", &leaderboard.url]));
    let run_id = said.lines().find_map(|line| line.trim().strip_prefix("Permalink")).unwrap();
    let run_id = run_id.trim().strip_prefix(&format!("{}/runs/", leaderboard.url)).unwrap();

    let text = get(&leaderboard, &format!("/api/v1/runs/{run_id}")).body_mut().read_to_string().unwrap();
    let stored: StoredRun = serde_json::from_str(&text).unwrap();
    assert_eq!((stored.tier, stored.record.device.backend.as_str()), (Tier::Checked, backend));
    let kept = fs::read_to_string(runner_folder.join("kept.json")).unwrap();
    let kept: results::RunRecord = serde_json::from_str(&kept).unwrap();
    assert_eq!(stored.record.workloads, kept.workloads);

    // Commands of the host, with the same program, while the server runs.
    let host = |arguments: &[&str]| done(command(&server.join("leaderboard"), &server_folder).args(arguments));
    assert!(host(&["health", &leaderboard.url]).contains("is healthy"));
    assert!(host(&["backup", "copy.sqlite"]).contains("(1 runs)"));
    assert!(host(&["remove", run_id]).contains(run_id));
}

fn expect_files(folder: &Path, files: &[&str]) {
    for file in files {
        let bytes = fs::metadata(folder.join(file)).map(|metadata| metadata.len());
        assert!(bytes.is_ok_and(|bytes| bytes > 100), "{file} is missing or empty in {}", folder.display());
    }
}

/// Checks the page, its headers for a high-resolution clock, and the module that it loads first.
fn expect_page(leaderboard: &RealLeaderboard) {
    let mut answer = get(leaderboard, "/");
    assert_eq!(answer.headers()["cross-origin-opener-policy"], "same-origin");
    assert_eq!(answer.headers()["cross-origin-embedder-policy"], "require-corp");
    let html = answer.body_mut().read_to_string().unwrap();
    let script = html.split(['"', '\'']).find(|part| part.ends_with(".wasm")).expect("the page names its module");
    let module = format!("/{}", script.trim_start_matches("./").trim_start_matches('/'));
    let bytes = get(leaderboard, &module).body_mut().with_config().limit(1 << 30).read_to_vec().unwrap();
    assert!(bytes.starts_with(b"\0asm"), "{module} is no WebAssembly");
}
