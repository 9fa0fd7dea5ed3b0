//! A layer whose options are all left out, which may be its name alone: `"batch_norm"` is `{ batch_norm = {} }`.

use std::fmt;
use std::iter;

use serde::Deserialize;
use serde::de::value::{EnumAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::layers::Layer;

/// Reads the layers of a file.
pub(super) fn layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Layer>, D::Error> {
    let layers: Vec<Listed> = Vec::deserialize(deserializer)?;
    Ok(layers.into_iter().map(|Listed(layer)| layer).collect())
}

struct Listed(Layer);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Layer", &[], LayerVisitor).map(Self)
    }
}

struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = Layer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Layer, A::Error> {
        Layer::deserialize(EnumAccessDeserializer::new(Bare(access)))
    }
}

/// Reads no options where a name stands alone.
struct Bare<A>(A);

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Bare<A> {
    type Error = A::Error;
    type Variant = Bare<A::Variant>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), A::Error> {
        let (name, options) = self.0.variant_seed(seed)?;
        Ok((name, Bare(options)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Bare<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        let mut seed = Some(seed);
        let read = self.0.newtype_variant_seed(Once(&mut seed));
        match seed {
            // There was nothing to read options from.
            Some(seed) => seed.deserialize(MapDeserializer::<_, A::Error>::new(iter::empty::<(&str, &str)>())),
            None => read,
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, visitor)
    }
}

/// Takes the seed when it is used.
struct Once<'a, T>(&'a mut Option<T>);

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Once<'_, T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.0.take().expect("a value is read once").deserialize(deserializer)
    }
}
