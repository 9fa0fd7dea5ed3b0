//! Settings in the page's address, for engineers and tests: `?workload=keras-mnist-mlp&seconds=5&batch=32`.

use training_worker::Limit;

/// What the address asks for; nothing for a standard run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Workloads to run; empty for all of the suite.
    pub workloads: Vec<String>,
    pub batch_size: Option<u32>,
    pub limit: Option<Limit>,
}

impl Wishes {
    /// Reads decoded pairs of name and value. Names that mean nothing here are left alone.
    ///
    /// # Errors
    /// A sentence that names the setting at fault and what it may be.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut wishes = Self::default();
        for (name, value) in pairs {
            match name {
                "workload" => wishes.workloads = workloads(value)?,
                "batch" => wishes.batch_size = Some(positive(name, value)?),
                "epochs" => wishes.limit_once(Limit::Epochs(positive(name, value)?))?,
                "steps" => wishes.limit_once(Limit::Steps(u64::from(positive(name, value)?)))?,
                "seconds" => wishes.limit_once(Limit::Seconds(seconds(value)?))?,
                _ => {}
            }
        }
        Ok(wishes)
    }

    /// Whether a run with these wishes departs from the suite, so that it is shown and never ranked.
    pub fn non_standard(&self) -> bool {
        self.batch_size.is_some() || self.limit.is_some()
    }

    fn limit_once(&mut self, limit: Limit) -> Result<(), String> {
        if self.limit.replace(limit).is_some() {
            return Err("Only one of epochs, steps and seconds can be asked for in the address.".to_owned());
        }
        Ok(())
    }
}

fn workloads(value: &str) -> Result<Vec<String>, String> {
    let known: Vec<&str> = engine::WORKLOADS.iter().map(|make| make().name).collect();
    let names: Vec<String> = value.split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("There is no workload named “{name}”; there are: {}.", known.join(", "))),
        None => Ok(names),
    }
}

fn positive(name: &str, value: &str) -> Result<u32, String> {
    let number = value.parse().ok().filter(|&number: &u32| number > 0);
    number.ok_or_else(|| format!("In the address, {name} must be a whole number from 1, but is “{value}”."))
}

fn seconds(value: &str) -> Result<f64, String> {
    let number = value.parse().ok().filter(|&number: &f64| number > 0.0 && number <= 3600.0);
    number.ok_or_else(|| format!("In the address, seconds must be above 0 and at most 3600, but is “{value}”."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_testers_address_is_understood() {
        let wishes = Wishes::from_pairs([("workload", "keras-mnist-mlp"), ("batch", "32"), ("steps", "40")]).unwrap();
        let workloads = vec!["keras-mnist-mlp".to_owned()];
        assert_eq!(wishes, Wishes { workloads, batch_size: Some(32), limit: Some(Limit::Steps(40)) });
        assert!(wishes.non_standard());
    }

    #[test]
    fn an_address_without_settings_is_a_standard_run() {
        let wishes = Wishes::from_pairs([("utm_source", "somewhere")]).unwrap();
        assert_eq!(wishes, Wishes::default());
        assert!(!wishes.non_standard());
    }

    #[test]
    fn a_wrong_setting_is_named() {
        let message = |name, value| Wishes::from_pairs([(name, value)]).unwrap_err();
        assert!(message("batch", "0").contains("batch must be a whole number"));
        assert!(message("seconds", "inf").contains("seconds must be above 0"));
        let names = message("workload", "resnet");
        assert!(names.contains("keras-mnist-mlp, ") && names.contains(", caffe-mnist"), "{names}");
        assert!(Wishes::from_pairs([("steps", "1"), ("seconds", "1")]).is_err());
    }
}
