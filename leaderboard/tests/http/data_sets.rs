//! Which data sets the server says it has.

use std::fs::{self, File};

use results::api::{DataSetList, ServedDataSet};

use crate::support::TestServer;

/// As `reference/data-sets.json` registers them.
const MNIST: [(&str, u64); 2] = [("mnist-train.bin", 47_100_032), ("mnist-test.bin", 7_850_032)];
const CIFAR10: [(&str, u64); 2] = [("cifar10-train.bin", 153_650_032), ("cifar10-test.bin", 30_730_032)];

/// A server whose data folder is there and empty.
fn server() -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    TestServer::with_folders(folder, None, Some("data"))
}

/// Makes a file of this size, which takes no room on most file systems.
fn put(server: &TestServer, (file, bytes): (&str, u64)) {
    File::create(server.folder().join("data").join(file)).unwrap().set_len(bytes).unwrap();
}

/// Names of the data sets, each with the reason why it is missing.
fn listed(server: &TestServer) -> Vec<(String, Option<String>)> {
    let answer = server.get("/api/v1/data-sets");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), "no-cache");
    let list: DataSetList = answer.parse();
    list.data_sets.into_iter().map(|ServedDataSet { name, missing }| (name, missing)).collect()
}

#[test]
fn a_server_with_an_empty_data_folder_starts_and_says_what_is_missing() {
    let server = server();
    let advice = "`native-runner fetch-data` or, in a checkout, `cargo xtask data` fetches it";
    let missing = |file: &str| Some(format!("{file} is missing in its data folder; {advice}"));
    assert_eq!(
        listed(&server),
        [("mnist".to_owned(), missing("mnist-train.bin")), ("cifar10".to_owned(), missing("cifar10-train.bin")),]
    );
    assert_eq!(server.get("/data/mnist-train.bin").status, 404);
}

#[test]
fn files_that_come_while_the_server_runs_are_seen() {
    let server = server();
    MNIST.into_iter().for_each(|file| put(&server, file));
    put(&server, CIFAR10[0]);
    let list = listed(&server);
    assert_eq!(list[0], ("mnist".to_owned(), None));
    let reason = list[1].1.as_deref().unwrap();
    assert!(reason.starts_with("cifar10-test.bin is missing"), "{reason}");

    put(&server, (CIFAR10[1].0, 1000));
    let truncated = listed(&server)[1].1.clone().unwrap();
    assert!(
        truncated.contains("cifar10-test.bin in its data folder has 1000 bytes instead of 30730032"),
        "{truncated}"
    );

    put(&server, CIFAR10[1]);
    assert_eq!(listed(&server)[1], ("cifar10".to_owned(), None));
    fs::remove_file(server.folder().join("data").join(MNIST[1].0)).unwrap();
    assert!(listed(&server)[0].1.as_deref().unwrap().starts_with("mnist-test.bin is missing"));
}

#[test]
fn a_server_without_a_data_folder_says_so() {
    let server = TestServer::start();
    for (name, missing) in listed(&server) {
        assert_eq!(missing.as_deref(), Some("it was started without a data folder (`--data`)"), "{name}");
    }
}
