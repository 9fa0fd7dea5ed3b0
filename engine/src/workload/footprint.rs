//! How much memory a network takes, from its layers alone.

use super::Workload;
use crate::data::{DataSetDefinition, data_set};
use crate::model::{Layer, ModelError, Source};

/// Bytes of a number.
const NUMBER: u64 = 4;
/// Copies of each weight: itself, its gradient, and at most two numbers that the optimiser remembers.
const OF_A_WEIGHT: u64 = 4;
/// What a layer makes, and its gradient.
const OF_AN_ACTIVATION: u64 = 2;
/// What a unit of a recurrent layer keeps of each step: an LSTM four gates, its cell and its output; a GRU three gates,
/// three products with the state and its output; a simple layer its output twice.
const OF_AN_LSTM_UNIT: u64 = 6;
const OF_A_GRU_UNIT: u64 = 7;
const OF_A_SIMPLE_UNIT: u64 = 2;

impl Workload {
    /// Bytes that training takes, for back ends that cannot tell themselves: those of the network, and the data set with one
    /// byte for a value.
    ///
    /// # Errors
    /// Shapes that do not fit together; the registry has none.
    pub fn bytes_of_layers(&self, batch_size: u32) -> Result<u64, ModelError> {
        Ok(self.bytes_of_network(batch_size)? + data_set(self.data_set).map_or(0, data_bytes))
    }

    /// Bytes of the weights with what belongs to them, and of what all layers make of a batch with gradients.
    ///
    /// # Errors
    /// Shapes that do not fit together; the registry has none.
    pub fn bytes_of_network(&self, batch_size: u32) -> Result<u64, ModelError> {
        let model = &self.model;
        let shapes = model.shapes()?;
        let made = model.nodes.iter().zip(&shapes).map(|(node, output)| {
            let (units, numbers) = match node.layer {
                Layer::Lstm { units, .. } => (units, OF_AN_LSTM_UNIT),
                Layer::Gru { units, .. } => (units, OF_A_GRU_UNIT),
                Layer::SimpleRnn { units, .. } => (units, OF_A_SIMPLE_UNIT),
                _ => return u64::from(output.features()),
            };
            let steps = match node.inputs.first() {
                Some(Source::Node(node)) => shapes[*node].pixels(),
                Some(Source::Data) | None => model.input.pixels(),
            };
            u64::from(steps) * u64::from(units) * numbers
        });
        let activations: u64 = made.sum::<u64>() + u64::from(model.input.features());
        let weights = model.parameters()?;
        let batch = u64::from(batch_size) * activations * OF_AN_ACTIVATION;
        Ok(NUMBER * (weights * OF_A_WEIGHT + batch))
    }
}

fn data_bytes(data: &DataSetDefinition) -> u64 {
    [&data.train, &data.test].into_iter().map(|split| u64::from(split.samples) * u64::from(split.features())).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_network_of_dense_layers_is_added_up_by_hand() {
        let workload = crate::workload("keras-mnist-mlp").unwrap();
        let predicted = workload.bytes_of_layers(128).unwrap();
        let weights = 669_706 * 4 * 4;
        let data = 70_000 * 784;
        // 784 pixels, 512 and 512 units, each with a dropout, and 10 logits.
        let batch = 128 * (784 + 4 * 512 + 10) * 2 * 4;
        assert_eq!(predicted, weights + data + batch);
    }

    #[test]
    fn a_larger_batch_takes_more() {
        let workload = crate::workload("keras-mnist-hrnn").unwrap();
        assert!(workload.bytes_of_layers(64).unwrap() > workload.bytes_of_layers(32).unwrap());
    }
}
