//! Which recurrent layers are measured: DeepBench's training list, and those of our own `keras-mnist-hrnn`.

use crate::model::{Activation, Cell};

/// Units, sequences, steps.
pub(super) type Size = [u32; 3];

/// The two layers of `keras-mnist-hrnn` in batches of 32.
const OWN_LSTMS: [Size; 2] = [[128, 896, 28], [128, 32, 28]];

/// Every cell with its sizes, our own first, then DeepBench's by their operations.
pub(super) fn cells() -> [(Cell, Vec<Size>); 3] {
    [
        (Cell::Lstm, [OWN_LSTMS.to_vec(), by_operations(deepbench_lstms())].concat()),
        (Cell::SimpleRnn(Activation::Relu), by_operations(deepbench_vanilla())),
        (Cell::Gru(Activation::Relu), by_operations(deepbench_grus())),
    ]
}

fn deepbench_lstms() -> Vec<Size> {
    let long = [16, 32, 64].map(|sequences| [256, sequences, 150]);
    let large = [8, 16, 32].map(|sequences| [1536, sequences, 50]);
    [every(&[512, 1024, 2048, 4096], &[16, 32, 64, 128], &[25]), long.to_vec(), large.to_vec()].concat()
}

fn deepbench_vanilla() -> Vec<Size> {
    every(&[1760, 2048, 2560], &[16, 32, 64, 128], &[50])
}

fn deepbench_grus() -> Vec<Size> {
    let others = [[512, 32, 1], [1024, 32, 1500], [1024, 64, 1500]];
    [every(&[1536, 2048, 2560, 2816], &[32], &[187, 375, 750, 1500]), others.to_vec()].concat()
}

fn every(units: &[u32], sequences: &[u32], steps: &[u32]) -> Vec<Size> {
    let with = |&units: &u32| {
        sequences.iter().flat_map(move |&sequences| steps.iter().map(move |&steps| [units, sequences, steps]))
    };
    units.iter().flat_map(with).collect()
}

/// Sorted by `units² × sequences × steps`.
fn by_operations(mut sizes: Vec<Size>) -> Vec<Size> {
    sizes.sort_by_key(|&[units, sequences, steps]| {
        [units, units, sequences, steps].map(u64::from).iter().product::<u64>()
    });
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deepbench_has_22_lstms_12_vanilla_layers_and_19_grus() {
        for (mut sizes, count) in [(deepbench_lstms(), 22), (deepbench_vanilla(), 12), (deepbench_grus(), 19)] {
            assert_eq!(sizes.len(), count);
            sizes.sort_unstable();
            sizes.dedup();
            assert_eq!(sizes.len(), count, "{sizes:?}");
        }
        // What the list begins and ends with.
        let [(_, lstms), (_, vanilla), (_, grus)] = cells();
        assert_eq!((lstms[2], lstms[23]), ([512, 16, 25], [4096, 128, 25]));
        assert_eq!((vanilla[0], vanilla[11]), ([1760, 16, 50], [2560, 128, 50]));
        assert_eq!((grus[0], grus[18]), ([512, 32, 1], [2816, 32, 1500]));
    }
}
