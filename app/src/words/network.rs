//! What networks and suites are called. In English as the engine has it, which a test holds this to.

use crate::t;

/// The title of a workload, or its name where this build does not know it.
pub fn title(workload: &str) -> &str {
    match workload {
        "keras-mnist-mlp" => t!(network_keras_mnist_mlp),
        "keras-mnist-cnn" => t!(network_keras_mnist_cnn),
        "keras-cifar10-cnn" => t!(network_keras_cifar10_cnn),
        "keras-mnist-hrnn" => t!(network_keras_mnist_hrnn),
        "keras-babi-rnn" => t!(network_keras_babi_rnn),
        "keras-babi-memnn" => t!(network_keras_babi_memnn),
        "memn2n-babi" => t!(network_memn2n_babi),
        "tensorflow-mnist" => t!(network_tensorflow_mnist),
        "tensorflow-cifar10" => t!(network_tensorflow_cifar10),
        "caffe-mnist" => t!(network_caffe_mnist),
        "caffe-cifar10" => t!(network_caffe_cifar10),
        "torch-mnist" => t!(network_torch_mnist),
        "torch-cifar10" => t!(network_torch_cifar10),
        "theano-mnist" => t!(network_theano_mnist),
        "theano-cifar10" => t!(network_theano_cifar10),
        "resnet20-cifar10" => t!(network_resnet20_cifar10),
        "transformer-cifar10" => t!(network_transformer_cifar10),
        "airbench94" => t!(network_airbench94),
        "resnet50-synthetic" => t!(network_resnet50_synthetic),
        "inception-v3-synthetic" => t!(network_inception_v3_synthetic),
        other => other,
    }
}

/// A suite's name as a title.
pub fn suite(name: &str) -> String {
    match name {
        "quick" => t!(network_suite_quick).to_owned(),
        "complete" => t!(network_suite_complete).to_owned(),
        other => crate::text::capitalised(other),
    }
}

/// A suite inside a sentence: its title, where English wants a small letter.
pub fn suite_inside(name: &str) -> String {
    match crate::words::language() {
        crate::words::Language::English => name.to_owned(),
        crate::words::Language::German => suite(name),
    }
}

/// What a suite trains.
pub fn suite_description(suite: &engine::SuiteDefinition) -> &'static str {
    match suite.name {
        "quick" => t!(network_suite_quick_description),
        "complete" => t!(network_suite_complete_description),
        _ => suite.description,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, speak};

    #[test]
    fn every_network_and_suite_has_the_engines_words_in_english_and_others_in_german() {
        for make in engine::WORKLOADS {
            let workload = make();
            assert_ne!(title(workload.name), workload.name, "give it a title: app/locales/*/network.ftl");
            assert_eq!(title(workload.name), workload.title);
        }
        for of in engine::SUITES {
            assert_eq!(suite(of.name), crate::text::capitalised(of.name));
            assert_eq!(suite_description(of), of.description);
            speak(Language::German);
            assert_ne!(suite_description(of), of.description, "translate it: app/locales/de/network.ftl");
            speak(Language::English);
        }
    }
}
