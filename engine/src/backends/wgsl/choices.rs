//! Which variant of its kernel each product gets. Nothing here needs a device: `tuning` times the variants.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shaders::Stored;

use super::products::Product;
use super::variants::{Abilities, Variant};

/// The choices that were made on a device.
#[derive(Debug, Default)]
pub(super) struct Choices {
    abilities: Abilities,
    by_product: BTreeMap<String, Choice>,
}

/// The outcome of one tuning run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Choice {
    pub(super) kernel: String,
    /// Its time over the default's.
    pub(super) ratio: f64,
}

impl Choices {
    /// None yet.
    pub(super) fn new(abilities: Abilities) -> Self {
        Self { abilities, by_product: BTreeMap::new() }
    }

    /// Those of an earlier time, as [`Choices::text`] wrote them; none where that cannot be read.
    pub(super) fn recalled(abilities: Abilities, text: &str) -> Self {
        Self { abilities, by_product: serde_json::from_str(text).unwrap_or_default() }
    }

    /// All choices, for [`Choices::recalled`].
    pub(super) fn text(&self) -> String {
        serde_json::to_string(&self.by_product).expect("words and finite numbers are always JSON")
    }

    /// What the kernels store.
    pub(super) fn stored(&self) -> Stored {
        self.abilities.stored
    }

    /// Whether they are for a GPU that a CPU emulates.
    pub(super) fn emulated(&self) -> bool {
        self.abilities.software
    }

    /// What the device can do.
    pub(super) fn abilities(&self) -> Abilities {
        self.abilities
    }

    /// How many products were timed.
    pub(super) fn timed(&self) -> usize {
        self.by_product.len()
    }

    pub(super) fn has_timed(&self, product: &Product) -> bool {
        self.by_product.contains_key(&key(product))
    }

    pub(super) fn insert(&mut self, product: &Product, choice: Choice) {
        self.by_product.insert(key(product), choice);
    }

    /// The variant for `product`: the fastest if it was timed, otherwise the usual one.
    pub(super) fn pick(&self, product: &Product) -> &'static Variant {
        let timed = self.by_product.get(&key(product));
        let chosen =
            timed.and_then(|choice| product.candidates(self.abilities).find(|variant| variant.kernel == choice.kernel));
        chosen.unwrap_or_else(|| product.usual_variant(self.abilities))
    }

    /// The product and the kernel that it gets, for the record; where kernels were timed, with its time over the
    /// default's.
    pub(super) fn describe(&self, product: &Product) -> String {
        let kernel = self.pick(product).kernel;
        let ratio = self.by_product.get(&key(product)).map(|choice| format!(" ({:.2})", choice.ratio));
        format!("{}: {kernel}{}", key(product), ratio.unwrap_or_default())
    }
}

/// What tells apart the products that are timed by themselves.
fn key(product: &Product) -> String {
    product.key(product.variants()[0].kernel)
}

#[cfg(test)]
mod tests {
    use super::super::products::{Pass, dense};
    use super::*;

    fn product() -> Product {
        Product::new(Pass::Forward, dense(40, 24, 36))
    }

    #[test]
    fn choices_are_recalled_and_what_is_no_kernel_of_the_product_or_the_device_is_not() {
        let product = product();
        let abilities = Abilities { software: true, subgroup_lanes: 8, ..Abilities::default() };
        let real = Abilities { software: false, ..abilities };
        let [usual, other, ..] = product.variants() else { panic!("a product with one variant only") };
        let chosen = |kernel: &str, abilities| {
            let choice = Choice { kernel: kernel.to_owned(), ratio: 0.5 };
            let chosen = Choices { abilities, by_product: BTreeMap::from([(key(&product), choice)]) };
            Choices::recalled(abilities, &chosen.text()).pick(&product)
        };
        assert_eq!(chosen(other.kernel, abilities), other);
        assert_eq!(chosen("dense_forward_shared", real).kernel, "dense_forward_shared");
        assert_eq!(chosen("a kernel of another version", real), usual);
        assert_eq!(chosen(other.kernel, real), usual, "it was made for emulated GPUs");
        assert_eq!(chosen("dense_forward_large", real), usual, "the product is smaller than its tile");
        assert_eq!(Choices::recalled(real, "half of a fi").pick(&product), usual);
    }
}
