use super::*;
use crate::bundle::BurnState;
use crate::supplies;

#[test]
fn the_options_in_an_address_are_read() {
    let options = RunOptions::from_pairs([("workload", "keras-mnist-mlp"), ("batch", "32"), ("steps", "40")]).unwrap();
    let workloads = vec!["keras-mnist-mlp".to_owned()];
    let limit = Some(Limit::Steps(40));
    assert_eq!(options, RunOptions { workloads, batch_size: Some(32), limit, ..RunOptions::default() });
    assert!(options.non_standard());
    let half = RunOptions::from_pairs([("precision", "f16")]).unwrap();
    assert_eq!(half, RunOptions { precision: Some(Precision::F16), ..RunOptions::default() });
    assert!(!half.non_standard(), "f16 has a ranking of its own");
    assert!(!RunOptions::from_pairs([("precision", "f32")]).unwrap().non_standard());
    let less = RunOptions::from_pairs([("without", "subgroups, f16")]).unwrap();
    assert_eq!(less, RunOptions { without: vec![Feature::Subgroups, Feature::F16], ..RunOptions::default() });
    assert!(less.non_standard());
    let sentence = RunOptions::from_pairs([("batch", "32"), ("batch", "32")]).unwrap_err();
    assert!(sentence.contains("batch can be given only once"), "{sentence}");
    let sentence = RunOptions::from_pairs([("without", "subgroups,wings")]).unwrap_err();
    assert!(sentence.contains("features of subgroups, f16"), "{sentence}");
}

#[test]
fn an_address_without_settings_is_a_standard_run() {
    let options = RunOptions::from_pairs([("utm_source", "somewhere")]).unwrap();
    assert_eq!(options, RunOptions::default());
    assert!(!options.non_standard());
}

#[test]
fn a_seed_and_a_learning_rate_of_ones_own_make_a_run_that_is_never_ranked() {
    let options = RunOptions::from_pairs([("seed", "7"), ("learning-rate", "0.05"), ("autostart", "1")]).unwrap();
    assert_eq!((options.seed, options.learning_rate, options.autostart), (Some(7), Some(0.05), true));
    assert!(options.non_standard());
    assert!(!RunOptions::from_pairs([("autostart", "1")]).unwrap().non_standard(), "who clicks is no matter");
}

#[test]
fn what_means_nothing_in_an_address_is_found() {
    let names = ["suite", "sede", "leaderboard", "utm_source", "seed"];
    assert_eq!(RunOptions::unknown(names), ["sede", "utm_source"]);
}

#[test]
fn options_are_written_as_an_address_that_is_read_again() {
    assert_eq!(RunOptions::default().query(), "");
    let text = "workload=keras-mnist-mlp,caffe-mnist&batch=32&precision=f16&without=subgroups,f16&backend=burn-flex\
                &compare=wgsl,tfjs-webgpu&seeds=3&seed=7&learning-rate=0.05&autostart=1&seconds=2.5";
    let pairs = text.split('&').map(|pair| pair.split_once('=').unwrap());
    let options = RunOptions::from_pairs(pairs).unwrap();
    assert_eq!(options.query(), format!("?{text}"));
    let named: Vec<_> = options.pairs().into_iter().map(|(name, _)| name).collect();
    assert!(RunOptions::NAMES.iter().all(|name| named.contains(name) || ["suite", "epochs", "steps"].contains(name)));
    assert_eq!(
        RunOptions::from_pairs([("suite", "complete"), ("epochs", "2")]).unwrap().query(),
        "?suite=complete&epochs=2"
    );
}

#[test]
fn a_setting_is_changed_and_taken_away_as_in_the_address() {
    let options = RunOptions::default().with_setting("batch", " 64 ").unwrap();
    assert_eq!(options.batch_size, Some(64));
    let shorter = options.with_setting("seconds", "5").unwrap().with_setting("seconds", "9").unwrap();
    assert_eq!(shorter.limit, Some(Limit::Seconds(9.0)));
    assert_eq!(shorter.with_setting("seconds", "").unwrap().with_setting("batch", "").unwrap(), RunOptions::default());
    assert!(RunOptions::default().with_setting("batch", "-1").unwrap_err().contains("batch must be a whole number"));
}

#[test]
fn every_name_of_the_address_is_read() {
    for name in RunOptions::NAMES {
        assert!(RunOptions::from_pairs([(name, "no such thing")]).is_err(), "{name} is left alone");
    }
}

#[test]
fn a_wrong_setting_is_named() {
    let message = |name, value| RunOptions::from_pairs([(name, value)]).unwrap_err();
    assert!(message("batch", "0").contains("batch must be a whole number"));
    assert!(message("seconds", "inf").contains("seconds must be above 0"));
    assert!(message("precision", "f64").contains("precision must be f16 or f32"));
    assert!(message("precision", "f16-matrix").contains("browsers do not offer matrix units"));
    assert!(message("backend", "burn-cuda").contains("wgsl, burn-wgpu, burn-flex"));
    let names = message("workload", "resnet");
    assert!(names.contains("keras-mnist-mlp, ") && names.contains(", caffe-mnist"), "{names}");
    assert!(message("suite", "huge").contains("quick, complete"));
    assert!(RunOptions::from_pairs([("steps", "1"), ("seconds", "1")]).is_err());
}

#[test]
fn burn_and_frameworks_are_chosen_by_name_and_need_their_bundles() {
    let options = RunOptions::from_pairs([("backend", "burn-flex")]).unwrap();
    assert_eq!(options.backend, PageBackend::BurnFlex);
    assert!(!options.non_standard(), "a back end is no departure from a suite");
    assert_eq!(options.trained(), Vec::<String>::new());
    let framework = RunOptions::from_pairs([("backend", "tfjs-webgl")]).unwrap();
    assert!(framework.non_standard(), "nobody can prove what a framework computed");
    let sentence = framework.obstacle(&Supplies::default()).unwrap();
    assert_eq!(sentence, "TensorFlow.js on WebGL is being looked for on this server.");
    let obstacle = |text: &str| {
        let supplies = Supplies::default().with_burn(BurnState::parse(text));
        assert_eq!(options.clone().with_backend(PageBackend::Wgsl).obstacle(&supplies), None, "it needs no Burn");
        options.obstacle(&supplies)
    };
    let building = obstacle(r#"{"state":"building","note":"compiling Burn for the page"}"#).unwrap();
    assert_eq!(building, "Burn on the processor is being built: compiling Burn for the page.");
    let missing = obstacle(r#"{"state":"missing","note":"building Burn failed: no space left"}"#).unwrap();
    assert_eq!(missing, "Burn on the processor is not on this server: building Burn failed: no space left.");
    assert_eq!(obstacle(r#"{"state":"ready","folder":"burn-1","compressed_bytes":2,"bytes":3}"#), None);
}

#[test]
fn a_suite_or_a_network_whose_data_is_missing_cannot_be_run_and_others_can() {
    let lacking = supplies::tests::without("cifar10");
    let quick = RunOptions::default();
    assert_eq!(quick.obstacle(&lacking), None, "it has handwritten digits only");
    let complete = quick.clone().with_suite(engine::suite("complete").unwrap());
    assert_eq!(
        complete.obstacle(&lacking).unwrap(),
        "The complete suite needs CIFAR-10, which is not on this server. Choose other networks."
    );
    let one = RunOptions::from_pairs([("workload", "keras-mnist-mlp,theano-cifar10")]).unwrap();
    let sentence = one.obstacle(&lacking).unwrap();
    assert!(sentence.starts_with(&format!("{} needs CIFAR-10", text::workload_title("theano-cifar10"))), "{sentence}");
    assert_eq!(one.with_network("theano-cifar10", false).obstacle(&lacking), None);

    let lacking = supplies::tests::without("mnist");
    let sentence = quick.obstacle(&lacking).unwrap();
    assert!(sentence.starts_with("The quick suite needs MNIST"), "{sentence}");
    let stories = RunOptions::from_pairs([("workload", "keras-babi-rnn")]).unwrap();
    assert_eq!(stories.obstacle(&lacking), None, "stories are made up by the page itself");
}

#[test]
fn a_comparison_is_of_the_usual_back_ends_from_one_seed_unless_the_address_says_otherwise() {
    let usual = RunOptions::default();
    let all = |_: PageBackend| true;
    assert_eq!(usual.contenders(all), PageBackend::COMPARED);
    let processor = [PageBackend::BurnFlex, PageBackend::TfjsWebgl, PageBackend::TfjsWasm, PageBackend::JaxJsWasm];
    assert_eq!(usual.contenders(|backend| !backend.uses_webgpu()), processor, "without a GPU all that train");
    let without_ours = usual.clone().with_contender(PageBackend::Wgsl, false, &PageBackend::COMPARED);
    assert_eq!(without_ours.compared, PageBackend::COMPARED[1..]);
    let back = without_ours.clone().with_contender(PageBackend::Wgsl, true, &without_ours.compared);
    assert_eq!(back.compared, PageBackend::COMPARED);
    assert_eq!(usual.seeds_from(7), [7]);
    let options = RunOptions::from_pairs([("compare", "burn-flex, wgsl"), ("seeds", "3")]).unwrap();
    assert_eq!(options.contenders(all), [PageBackend::Wgsl, PageBackend::BurnFlex]);
    assert_eq!(options.seeds_from(u32::MAX), [u32::MAX, 0, 1]);
    assert!(!options.non_standard(), "a comparison is never uploaded, and the button beside it is as it was");
    for (name, value, says) in [
        ("compare", "wgsl", "two or more of wgsl, burn-wgpu, burn-flex"),
        ("compare", "wgsl,wgsl", "two or more of"),
        ("compare", "wgsl,burn-cuda", "no back end named “burn-cuda”"),
        ("seeds", "0", "from 1 to 10"),
        ("seeds", "11", "from 1 to 10"),
    ] {
        let sentence = RunOptions::from_pairs([(name, value)]).unwrap_err();
        assert!(sentence.contains(says), "{sentence}");
    }
}

#[test]
fn every_network_of_the_page_is_trained_by_every_back_end() {
    let all = RunOptions::default().with_suite(engine::suite("complete").unwrap());
    for backend in PageBackend::ALL {
        assert_eq!(all.clone().with_backend(backend).left_out(), Vec::new(), "{backend:?}");
    }
}

#[test]
fn networks_are_chosen_one_by_one_or_as_a_suite() {
    let options = RunOptions::default();
    assert_eq!(options.networks(), ["keras-mnist-mlp", "caffe-mnist"]);
    let three = options.with_network("keras-babi-rnn", true);
    assert_eq!(three.networks(), ["keras-mnist-mlp", "keras-babi-rnn", "caffe-mnist"]);
    assert_eq!((three.suite().name, three.workloads.len()), ("quick", 3));
    // What is a suite again counts as the suite.
    let two = three.with_network("keras-babi-rnn", false);
    assert!(two.workloads.is_empty() && two.suite().name == "quick", "{two:?}");
    let one = two.with_network("caffe-mnist", false);
    assert_eq!(one.networks(), ["keras-mnist-mlp"]);
    assert_eq!(one.clone().with_network("keras-mnist-mlp", false), one, "the last one stays");
    let all = one.with_suite(engine::suite("complete").unwrap());
    assert_eq!(all.networks().len(), engine::suite("complete").unwrap().workloads.len());
    assert_eq!(RunOptions::from_pairs([("suite", "complete")]).unwrap(), all);
}

#[test]
fn every_setting_is_in_the_document_that_explains_them() {
    let document = include_str!("../../../docs/AUTOMATION.md");
    let rows = document.lines().filter(|line| line.starts_with("| `")).collect::<Vec<_>>();
    let missing: Vec<_> = RunOptions::NAMES
        .into_iter()
        .filter(|name| {
            !rows.iter().any(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{name}`"))))
        })
        .collect();
    assert!(missing.is_empty(), "docs/AUTOMATION.md says nothing of {missing:?}");
    for backend in PageBackend::ALL {
        assert!(document.contains(&format!("`{}`", backend.name())), "{backend:?}");
    }
}
