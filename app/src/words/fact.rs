//! What differs around results that are beside each other: the API's names in words.

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
    }
}
