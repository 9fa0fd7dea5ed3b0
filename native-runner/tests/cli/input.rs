use results::{Outcome, RunRecord};

use crate::support::{Runner, adapters, claim_suite_network, one_line, skipped};

/// Whether there is a software adapter to train on.
fn has_software(test: &str) -> bool {
    let found = adapters().iter().any(|adapter| adapter.adapter.software);
    if !found {
        skipped(test, "there is no software adapter");
    }
    found
}

const LINE: &str = "--adapter cpu --steps 6 --batch-size 16 --seed 7";

#[test]
fn batches_from_the_host_train_as_resident_data_does_and_the_record_says_what_they_took() {
    if !has_software("batches_from_the_host_train_as_resident_data_does_and_the_record_says_what_they_took") {
        return;
    }
    let run = |input: &str| {
        let finished = Runner::new(&format!("{LINE} {input} --json -")).tiny().run().expect_status(0);
        let record: RunRecord = serde_json::from_str(&finished.stdout).unwrap();
        (record, one_line(&finished.stderr))
    };
    let (standard, _) = run("");
    let (resident, _) = run("--input resident");
    assert_eq!(resident.workloads[0].first_losses, standard.workloads[0].first_losses);
    assert!(resident.workloads[0].input.is_none() && resident.non_standard == standard.non_standard);
    for (mode, text) in [("prefetch", "streamed with prefetch"), ("stream", "streamed without prefetch")] {
        let (streamed, shown) = run(&format!("--input {mode}"));
        let of = &streamed.workloads[0];
        assert_eq!(of.outcome, Outcome::Completed);
        assert_eq!(of.first_losses, standard.workloads[0].first_losses, "{mode}");
        let brought = of.input.unwrap_or_else(|| panic!("{mode} says nothing of its input"));
        assert_eq!((brought.mode.name(), brought.batches, brought.bytes), (mode, 6, 6 * 16 * (784 + 2 + 4)));
        let share = of.input_share().unwrap();
        assert!(share > 0.0 && share < 1.0, "{brought:?}");
        assert!(streamed.non_standard.contains(&format!("input {text}")), "{:?}", streamed.non_standard);
        assert!(shown.contains(&format!("Input tiny: {text} · waited ")), "{shown}");
        assert!(shown.contains(&format!("input {text}")), "{shown}");
    }
}

#[test]
fn what_was_streamed_is_not_uploaded_from_a_file_either() {
    if !has_software("what_was_streamed_is_not_uploaded_from_a_file_either") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("streamed.json");
    Runner::new(&format!("{LINE} --input stream --json")).arg(&file).tiny().run().expect_status(0);
    claim_suite_network(&file);
    let refused = Runner::new("upload --to http://127.0.0.1:9 --yes").arg(&file).run();
    refused.expect_status(2).expect_errors(&["nothing that was trained with --input stream is uploaded"]);
    let refused =
        Runner::new("--adapter cpu --workload keras-mnist-mlp --input prefetch --upload http://127.0.0.1:9 --yes");
    let refused = refused.run();
    refused.expect_status(2).expect_errors(&["nothing that was trained with --input prefetch is uploaded"]);
}

#[test]
fn a_way_of_input_is_refused_where_nobody_can_choose_one() {
    let cases = [
        ("--backend reference --input stream", "it reads each sample from memory as it computes"),
        ("--backend burn-flex --input resident", "Burn's queue decides"),
        (
            "--backend burn-flex --input prefetch",
            "the back end `burn-flex` takes no input mode, and `prefetch` was asked for",
        ),
        ("--backend own --program own=cat --input stream", "gets its batches through a pipe"),
        ("--adapter cpu --devices 2 --input stream", "several devices share each batch, and each has the data set"),
        ("--adapter cpu --seeds 2 --input stream", "make a run for each, or a study with `inputs`"),
        ("--input streamed", "resident, prefetch, stream"),
    ];
    for (line, part) in cases {
        Runner::new(line).run().expect_status(2).expect_errors(&[part]);
    }
}

#[test]
#[ignore = "runs a study"]
fn a_study_has_a_cell_for_each_way_and_its_report_says_how_long_the_device_waits() {
    if !has_software("a_study_has_a_cell_for_each_way_and_its_report_says_how_long_the_device_waits") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let study = Runner::new("study input-pipeline --adapter cpu --scale 0.002 --only workload=keras-mnist-mlp");
    let finished = study.arg("--only").arg("batch-size=own").arg("--output").arg(&output).run().expect_status(0);
    let table = one_line(&finished.stdout);
    assert!(table.contains("input waits") && !table.contains("communication"), "{}", finished.stdout);
    let shown = Runner::new("report").arg(&output).run().expect_status(0);
    let html =
        std::fs::read_to_string(output.join("report.html")).unwrap_or_else(|error| panic!("{error}: {}", shown.stderr));
    for part in [
        "Share of the step that waits for input",
        "with input streamed without prefetch",
        "of the step waits for input",
    ] {
        assert!(html.contains(part), "`{part}` is missing in the report");
    }
}
