//! What differs around results that are beside each other: the API's names in words.

use results::UNNAMED_ADAPTER;

use super::departure::departure;
use crate::t;

/// A fact's name in words; one that this build does not know is shown as the API has it.
pub fn fact(id: &str) -> String {
    match id {
        "suite" => t!(fact_suite),
        "adapter" => t!(fact_adapter),
        "vendor" => t!(fact_vendor),
        "architecture" => t!(fact_architecture),
        "claimed_name" => t!(fact_claimed_name),
        "api" => t!(fact_api),
        "driver" => t!(fact_driver),
        "backend" => t!(fact_backend),
        "precision" => t!(fact_precision),
        "client" => t!(fact_client),
        "operating_system" => t!(fact_operating_system),
        "engine_version" => t!(fact_engine_version),
        "non_standard" => t!(fact_non_standard),
        "source" => t!(fact_source),
        "inferred" => t!(fact_inferred),
        other => return other.replace('_', " "),
    }
    .to_owned()
}

/// What a fact is on one side, in words.
pub fn value(id: &str, value: String) -> String {
    match (id, value.as_str()) {
        ("adapter", UNNAMED_ADAPTER) => t!(device_unnamed).to_owned(),
        ("source", "reported") => t!(leaderboard_reported).to_owned(),
        ("source", "claimed") => t!(leaderboard_claimed).to_owned(),
        ("source", "masked") => t!(leaderboard_masked).to_owned(),
        ("non_standard", _) => value.split("; ").map(departure).collect::<Vec<_>>().join("; "),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, messages, speak};

    #[test]
    fn every_fact_that_results_are_compared_by_has_words() {
        let known = |id: &str| messages::ALL.iter().any(|(name, _)| *name == format!("fact_{id}"));
        for of in results::environment::FACTS {
            assert!(known(of.id), "give {} words: app/locales/*/fact.ftl", of.id);
            assert_eq!(fact(of.id), of.id.replace('_', " "));
        }
        speak(Language::German);
        assert_eq!((fact("driver").as_str(), fact("new_thing").as_str()), ("Treiber", "new thing"));
        assert_eq!(value("adapter", UNNAMED_ADAPTER.to_owned()), "ohne Namen");
        assert_eq!(value("driver", "580.65".to_owned()), "580.65");
    }
}
