//! Kernel variants chosen for the products on a device.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::products::Product;
use super::variants::{Abilities, Variant};

#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) abilities: Abilities,
    pub(super) by_product: BTreeMap<String, TunedKernel>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TunedKernel {
    pub(super) kernel: String,
    /// Time relative to the default's.
    pub(super) ratio: f64,
}

impl Choices {
    pub(super) fn new(abilities: Abilities) -> Self {
        Self { abilities, by_product: BTreeMap::new() }
    }

    /// Parses choices written by [`Choices::text`]. Returns none if the text is invalid.
    pub(super) fn recalled(abilities: Abilities, text: &str) -> Self {
        Self { abilities, by_product: serde_json::from_str(text).unwrap_or_default() }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(&self.by_product).expect("words and finite numbers are always JSON")
    }

    /// Returns the variant for `product`: the fastest if it was timed, otherwise the usual one.
    pub(super) fn pick(&self, product: &Product) -> Variant {
        let timed = self.by_product.get(&key(product));
        let chosen =
            timed.and_then(|choice| product.candidates(self.abilities).find(|variant| variant.kernel == choice.kernel));
        chosen.unwrap_or_else(|| product.usual_variant(self.abilities))
    }

    /// Describes a product and its kernel for the record, with its time relative to the default's if kernels were
    /// timed.
    pub(super) fn describe(&self, product: &Product) -> String {
        let kernel = self.pick(product).kernel;
        let ratio = self.by_product.get(&key(product)).map(|choice| format!(" ({:.2})", choice.ratio));
        format!("{}: {kernel}{}", key(product), ratio.unwrap_or_default())
    }
}

/// Returns the key of a product. Products with different keys are timed separately.
pub(super) fn key(product: &Product) -> String {
    product.key(product.variants()[0].kernel)
}
