//! Which networks a back end cannot train as they are defined: known from the list of layers, without opening anything.

use crate::model::{Layer, Model, ModelError, Shape, Source};

/// Why the back end of this name cannot train `model`, whether or not this program has it.
pub fn unsupported(backend: &str, model: &Model) -> Option<ModelError> {
    if backend.starts_with("burn-") { by_burn(model) } else { None }
}

/// The first layer that Burn's operations do not make as we define it.
pub(super) fn by_burn(model: &Model) -> Option<ModelError> {
    // A list that is no network is reported by whoever builds it.
    let shapes = model.shapes().ok()?;
    let made_by = |source: Source| match source {
        Source::Data => model.input,
        Source::Node(node) => shapes[node],
    };
    model.nodes.iter().zip(&shapes).enumerate().find_map(|(index, (node, &output))| {
        let input = made_by(*node.inputs.first()?);
        let reason = has_windows_beyond(&node.layer, input, output)
            .then(|| "Burn leaves out windows that begin beyond the last pixel".to_owned())?;
        Some(ModelError::Unsupported { model: model.name, layer: index, reason })
    })
}

/// Whether a pooling layer, rounded up, has a window of padding only.
fn has_windows_beyond(layer: &Layer, input: Shape, output: Shape) -> bool {
    let Layer::Pool { stride, padding, .. } = *layer else { return false };
    let beyond = |made: u32, given: u32| (made - 1) * stride >= given + padding;
    beyond(output.height, input.height) || beyond(output.width, input.width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Activation, PoolKind, Rounding};

    fn pooled(side: u32, stride: u32) -> Model {
        let kind = PoolKind::Max;
        let layer =
            Layer::Pool { kind, side, stride, padding: 0, rounding: Rounding::Ceil, activation: Activation::Identity };
        Model::sequence("pooled", Shape::new(7, 7, 3), vec![layer])
    }

    #[test]
    fn a_network_that_only_burn_cannot_train_is_told_with_the_reason() {
        // Windows of two at 0, 4 and 8, but pixels 0 to 6 only.
        let model = pooled(2, 4);
        let error = unsupported("burn-flex", &model).unwrap().to_string();
        assert!(error.contains("pooled: layer 0") && error.contains("beyond the last pixel"), "{error}");
        assert_eq!(unsupported("wgsl", &model), None);
        assert_eq!(unsupported("burn-wgpu", &pooled(3, 2)), None);
    }
}
