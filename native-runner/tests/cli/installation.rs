//! What comes with the program: completions, the manual, and the data sets from a leaderboard.

use std::fs;

use crate::support::{Answer, FakeServer, Runner, data_folder};

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
