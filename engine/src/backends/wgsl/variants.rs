//! Kernels that compute the same product, and the choice between them.

use shaders::params::{Attention, MAX_SUBGROUP_HEAD_SIZE};
use shaders::{SMALL_WORKGROUP, Stored};

use super::layout::CHANNEL_ALIGNMENT;
use super::products::{Extents, Params, Pass, Product};

/// Device abilities that decide between variants. The default has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// True for a GPU that a CPU emulates.
    pub(super) software: bool,
    /// Minimum number of lanes in a subgroup; 0 without subgroups.
    pub(super) subgroup_lanes: u32,
    pub(super) stored: Stored,
    /// True if workgroups have fewer than 256 invocations, as in WebGPU's compatibility mode.
    pub(super) small_workgroups: bool,
    /// True if subgroups multiply f16 blocks, with matrix units or, in tests, with loops that emulate them.
    pub(super) matrices: bool,
    /// True if large tiles of such blocks fit: subgroups are small enough and workgroup memory is large enough.
    pub(super) large_matrix_tiles: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variant {
    pub(super) kernel: &'static str,
    /// Rows and columns of a tile of the result. With [`ALL`] columns, a tile also covers all parts, one after the
    /// other.
    tile: [u32; 2],
    invocations_per_tile: u32,
    /// Minimum number of well-filled tiles for which timing this variant is worthwhile.
    min_tiles: u64,
    /// Maximum number of tiles for which timing this variant is worthwhile.
    max_tiles: u64,
    needs: Needs,
    /// Time per tile element on an emulated GPU, relative to the default variant.
    emulated_share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// Subgroups of at least eight lanes. These variants target emulated GPUs and are not offered to real ones until a
    /// measurement shows a benefit.
    Subgroups,
    /// Subgroups of at least four lanes. Offered to emulated GPUs whose subgroups have fewer than eight.
    FourLanes,
    /// Subgroups that multiply blocks. Every product with such a variant uses it, so that the precision's name
    /// describes the measurement.
    Matrices,
    /// Like `Matrices`, for a large tile.
    LargeMatrixTiles,
}

/// Column count of a tile that spans all columns of a result.
const ALL: u32 = u32::MAX;

/// Variant with one tile per invocation, held in registers.
const REGISTERS: Variant = Variant {
    kernel: "",
    tile: [8, 8],
    invocations_per_tile: 1,
    min_tiles: 0,
    max_tiles: u64::MAX,
    needs: Needs::Nothing,
    emulated_share: 1.0,
};

/// Variant with one tile per group of subgroup lanes, for emulated GPUs.
const SUBGROUP: Variant =
    Variant { tile: [32, 32], invocations_per_tile: SUBGROUP_LANES, needs: Needs::Subgroups, ..REGISTERS };

/// Like `SUBGROUP`, for smaller subgroups.
const SMALL_SUBGROUP: Variant = Variant {
    tile: [16, 16],
    invocations_per_tile: FOUR_LANES,
    needs: Needs::FourLanes,
    emulated_share: 0.5,
    ..REGISTERS
};

/// Variant with one tile per workgroup and operands in workgroup memory, for real GPUs.
const SHARED: Variant = Variant { tile: [64, 64], invocations_per_tile: 64, emulated_share: 4.0, ..REGISTERS };

/// Variant with one tile per workgroup, in blocks that its subgroups multiply.
const MATRIX: Variant = Variant { invocations_per_tile: 256, needs: Needs::Matrices, ..SHARED };

/// Kinds of variants of dense layers and convolutions, by the end of the kernel's name. The first one runs everywhere
/// and is the default.
const PRODUCT_KINDS: [(&str, Variant); 9] = [
    ("", REGISTERS),
    ("_subgroup", SUBGROUP),
    ("_four_lanes", SMALL_SUBGROUP),
    // Fewer rows per tile, for small batches.
    ("_thin", Variant { tile: [8, 32], ..SUBGROUP }),
    // Divides the sums of a small tile among the invocations of a workgroup. It suits deep products with few results:
    // larger tiles would leave most processors of a real GPU idle.
    ("_sliced", Variant { tile: [16, 16], invocations_per_tile: 256, max_tiles: MAX_SLICED_TILES, ..SHARED }),
    ("_shared", SHARED),
    // A larger tile and operands loaded during multiplication, for large products.
    ("_large", Variant { tile: [128, 64], invocations_per_tile: 128, min_tiles: MIN_LARGE_TILES, ..SHARED }),
    ("_matrix", MATRIX),
    // A larger tile, for large products.
    (
        "_matrix_large",
        Variant { tile: [128, 128], min_tiles: MIN_LARGE_TILES, needs: Needs::LargeMatrixTiles, ..MATRIX },
    ),
];

/// Kinds of variants of recurrent layers. They keep 8 or, on emulated GPUs, 16 or 32 sequences through all steps.
const RECURRENT_KINDS: [(&str, Variant); 3] = [
    ("", Variant { tile: [8, ALL], invocations_per_tile: 64, ..REGISTERS }),
    ("_subgroup", Variant { tile: [32, ALL], ..SUBGROUP }),
    ("_four_lanes", Variant { tile: [16, ALL], ..SMALL_SUBGROUP }),
];

/// Maximum number of tiles for slicing. Above it, a product has at least 128 tiles of 64 × 64, enough for a hundred
/// processors.
const MAX_SLICED_TILES: u64 = 2048;

/// Processor count of a small GPU. With fewer large tiles, some processors are idle and smaller tiles are faster.
const MIN_LARGE_TILES: u64 = 8;

/// Lanes that share a tile in the variants that use subgroups.
const SUBGROUP_LANES: u32 = 8;

/// Lanes that share a tile if subgroups have fewer than [`SUBGROUP_LANES`].
const FOUR_LANES: u32 = 4;

/// Emulated shares of kernels that differ from their kind's, measured on llvmpipe.
const EMULATED_SHARES: [(&str, f64); 15] = [
    ("dense_forward_subgroup", 0.27),
    ("dense_forward_thin", 0.35),
    ("dense_input_gradient_subgroup", 0.3),
    ("dense_input_gradient_thin", 0.4),
    ("dense_weight_gradient_subgroup", 0.55),
    ("conv2d_forward", 1.9),
    ("conv2d_forward_subgroup", 0.33),
    ("conv2d_input_gradient_subgroup", 0.4),
    ("conv2d_weight_gradient_subgroup", 0.5),
    ("lstm_forward_subgroup", 0.37),
    ("lstm_backward_subgroup", 0.29),
    ("gru_forward_subgroup", 0.32),
    ("gru_backward_subgroup", 0.32),
    ("simple_rnn_forward_subgroup", 0.21),
    ("simple_rnn_backward_subgroup", 0.28),
];

impl Product {
    /// Returns all kernels of the product. The first runs on every device.
    pub(super) fn variants(&self) -> Vec<Variant> {
        let (pass, recurrent_pass) = match self.pass {
            Pass::Forward => ("forward", "forward"),
            Pass::InputGradient => ("input_gradient", "backward"),
            // The weight gradients of recurrent layers are products of dense layers.
            Pass::WeightGradient => ("weight_gradient", "none"),
        };
        let (name, kinds) = match self.params {
            Params::Dense(_) => (format!("dense_{pass}"), &PRODUCT_KINDS[..]),
            // Raw data has no gradient.
            Params::Conv2d(params)
                if !params.input_channels.is_multiple_of(CHANNEL_ALIGNMENT) && self.pass != Pass::InputGradient =>
            {
                (format!("conv2d_{pass}_narrow"), &PRODUCT_KINDS[..1])
            }
            Params::Conv2d(_) => (format!("conv2d_{pass}"), &PRODUCT_KINDS[..]),
            Params::Recurrent(cell, _) => (format!("{}_{recurrent_pass}", cell.name()), &RECURRENT_KINDS[..]),
        };
        // The narrow kernel also computes products of other channels, and is their default.
        let narrow = (name == "conv2d_forward").then_some(("_narrow", REGISTERS));
        let variant = |(end, kind): (&str, Variant)| {
            let kernel = shaders::kernel(&format!("{name}{end}"))?.name;
            let share = EMULATED_SHARES.iter().find(|(measured, _)| *measured == kernel);
            Some(Variant { kernel, emulated_share: share.map_or(kind.emulated_share, |(_, share)| *share), ..kind })
        };
        narrow.into_iter().chain(kinds.iter().copied()).filter_map(variant).collect()
    }

    /// Returns the variants that a device with these abilities runs, the default first.
    pub(super) fn variants_with(&self, abilities: Abilities) -> impl Iterator<Item = Variant> + use<> {
        let fits =
            move |variant: &Variant| !abilities.small_workgroups || variant.invocations_per_tile <= SMALL_WORKGROUP;
        self.variants().into_iter().filter(fits).filter(move |variant| match variant.needs {
            Needs::Nothing => true,
            Needs::Subgroups => abilities.subgroup_lanes >= SUBGROUP_LANES,
            Needs::FourLanes => abilities.subgroup_lanes >= FOUR_LANES,
            Needs::Matrices => abilities.matrices,
            Needs::LargeMatrixTiles => abilities.large_matrix_tiles,
        })
    }

    /// Returns the variants worth timing for this product.
    pub(super) fn candidates(&self, abilities: Abilities) -> impl Iterator<Item = Variant> + use<> {
        let extents = self.extents();
        let asked_for_matrices = self.matrix_variant(abilities).is_some();
        self.variants_with(abilities).filter(move |variant| {
            let is_for_device = if asked_for_matrices { variant.multiplies_blocks() } else { variant.suits(abilities) };
            is_for_device
                && variant.well_filled_tiles(&extents) >= variant.min_tiles
                && variant.tiles(&extents) <= variant.max_tiles
        })
    }

    /// Returns the variant that multiplies blocks, if the device was opened for it and the product has one.
    fn matrix_variant(&self, abilities: Abilities) -> Option<Variant> {
        self.variants_with(abilities).find(|variant| variant.needs == Needs::Matrices)
    }

    /// Chooses a variant without timing: the block-multiplying one if requested, otherwise the one with the lowest
    /// estimated time on an emulated GPU (including tile parts beyond the result's edges), otherwise the default.
    pub(super) fn usual_variant(&self, abilities: Abilities) -> Variant {
        if let Some(asked_for) = self.matrix_variant(abilities) {
            return asked_for;
        }
        let default = self.variants()[0];
        if !abilities.software {
            return default;
        }
        let extents = self.extents();
        let least = |a: &Variant, b: &Variant| a.emulated_time(&extents).total_cmp(&b.emulated_time(&extents));
        self.variants_with(abilities).filter(|variant| variant.suits(abilities)).min_by(least).unwrap_or(default)
    }
}

impl Variant {
    /// Returns true if the variant is offered only on request.
    pub(super) fn multiplies_blocks(&self) -> bool {
        matches!(self.needs, Needs::Matrices | Needs::LargeMatrixTiles)
    }

    /// Returns false if the variant runs on the device but was written for others.
    fn suits(&self, abilities: Abilities) -> bool {
        match self.needs {
            Needs::Nothing => true,
            Needs::FourLanes => abilities.software && abilities.subgroup_lanes < SUBGROUP_LANES,
            _ => abilities.software,
        }
    }

    fn tiles(&self, extents: &Extents) -> u64 {
        let [rows, columns] = self.tile;
        let parts = if columns == ALL { 1 } else { extents.parts };
        u64::from(parts) * u64::from(extents.rows.div_ceil(rows)) * u64::from(extents.columns.div_ceil(columns))
    }

    /// Returns the number of tiles with all of their rows and at least a quarter of their columns inside the result. A
    /// large tile is faster than a small one even for the few channels of a first convolution.
    fn well_filled_tiles(&self, extents: &Extents) -> u64 {
        let [rows, columns] = self.tile;
        let across = (u64::from(extents.columns) + u64::from(columns) / 4 * 3) / u64::from(columns);
        u64::from(extents.parts) * u64::from(extents.rows / rows) * across
    }

    /// Returns the estimated time on an emulated GPU, in arbitrary units.
    fn emulated_time(&self, extents: &Extents) -> f64 {
        let columns = if self.tile[1] == ALL { extents.columns } else { self.tile[1] };
        let elements = self.tiles(extents) * u64::from(self.tile[0]) * u64::from(columns);
        elements as f64 * self.emulated_share
    }

    pub(super) fn invocations(&self, product: &Product) -> u64 {
        self.tiles(&product.extents()) * u64::from(self.invocations_per_tile)
    }
}

/// Variant of the kernels of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttentionVariant {
    /// Tiles of four tokens in the registers of an invocation. Runs everywhere.
    Plain,
    /// Tiles in workgroup memory, for real GPUs.
    Shared,
    /// Tiles in the registers of a subgroup's eight lanes, for emulated GPUs.
    Subgroup,
    /// The same with four lanes.
    FourLanes,
}

impl AttentionVariant {
    /// Returns the variants that a device with these abilities runs, from the slowest to the fastest if it is emulated,
    /// by measurements on llvmpipe and SwiftShader.
    pub(super) fn all_with(abilities: Abilities, params: &Attention) -> impl Iterator<Item = Self> {
        let fits = params.head_size <= MAX_SUBGROUP_HEAD_SIZE;
        let with_lanes = move |lanes, variant| (fits && abilities.subgroup_lanes >= lanes).then_some(variant);
        let in_registers = [with_lanes(FOUR_LANES, Self::FourLanes), with_lanes(SUBGROUP_LANES, Self::Subgroup)];
        [Self::Shared, Self::Plain].into_iter().chain(in_registers.into_iter().flatten())
    }

    /// Returns the fastest variant on emulated GPUs, and on real ones the variant that reads memory least.
    pub(super) fn usual(abilities: Abilities, params: &Attention) -> Self {
        let fastest = Self::all_with(abilities, params).last();
        fastest.filter(|_| abilities.software).unwrap_or(Self::Shared)
    }

    /// Returns the kernel of a pass, such as `forward`.
    pub(super) fn kernel(self, pass: &str) -> String {
        let end = match self {
            Self::Plain => "",
            Self::Shared => "_shared",
            Self::Subgroup => "_subgroup",
            Self::FourLanes => "_four_lanes",
        };
        format!("attention_{pass}{end}")
    }

    pub(super) fn invocations(self, params: &Attention) -> u64 {
        let (tile, invocations_per_tile) = match self {
            Self::Plain => (4, 1),
            Self::Shared => (32, 64),
            Self::Subgroup => (4 * SUBGROUP_LANES, SUBGROUP_LANES),
            Self::FourLanes => (4 * FOUR_LANES, FOUR_LANES),
        };
        let tiles = params.rows * params.heads * params.tokens.div_ceil(tile);
        u64::from(invocations_per_tile) * u64::from(tiles)
    }
}

#[cfg(test)]
mod tests {
    use super::super::products::{dense, recurrent};
    use super::*;
    use crate::model::Cell;

    fn lstm(pass: Pass, sequences: u32) -> Product {
        Product { pass, params: Params::Recurrent(Cell::Lstm, recurrent(sequences, 28, 128)) }
    }

    const EMULATED: Abilities = Abilities {
        software: true,
        subgroup_lanes: 8,
        stored: Stored::F32,
        small_workgroups: false,
        matrices: false,
        large_matrix_tiles: false,
    };
    const REAL: Abilities = Abilities { software: false, ..EMULATED };

    #[test]
    fn emulated_gpus_use_subgroups_for_well_filled_tiles() {
        let large = dense(Pass::Forward, 128, 784, 512);
        assert_eq!(large.usual_variant(EMULATED).kernel, "dense_forward_subgroup");
        assert_eq!(dense(Pass::Forward, 8, 784, 512).usual_variant(EMULATED).kernel, "dense_forward_thin");
        assert_eq!(dense(Pass::Forward, 8, 784, 8).usual_variant(EMULATED).kernel, "dense_forward");
        let four_lanes = Abilities { subgroup_lanes: 4, ..EMULATED };
        assert_eq!(large.usual_variant(four_lanes).kernel, "dense_forward_four_lanes");
        assert_eq!(large.usual_variant(Abilities { subgroup_lanes: 0, ..EMULATED }).kernel, "dense_forward");
        assert_eq!(large.usual_variant(REAL).kernel, "dense_forward");
    }

    #[test]
    fn few_sequences_are_not_worth_a_subgroup() {
        let lstm = |sequences| lstm(Pass::InputGradient, sequences);
        let usual = |sequences| lstm(sequences).usual_variant(EMULATED);
        assert_eq!(usual(896).kernel, "lstm_backward_subgroup");
        assert_eq!(usual(896).invocations(&lstm(896)), 28 * 8);
        assert_eq!(usual(8).kernel, "lstm_backward");
        assert_eq!(usual(8).invocations(&lstm(9)), 2 * 64);
    }

    #[test]
    fn invocations_cover_every_tile_of_every_part() {
        let product = dense(Pass::WeightGradient, 40, 68, 12);
        let invocations: Vec<u64> = product.variants().iter().map(|variant| variant.invocations(&product)).collect();
        // Three parts of 9 × 2 tiles of 8 × 8, of 3 × 1 tiles of 32 × 32, of 5 × 1 tiles of 16 × 16, of 2 × 1 tiles of
        // 64 × 64, of one tile of 128 × 64, again of 2 × 1 tiles of 64 × 64, and of one tile of 128 × 128.
        assert_eq!(invocations, [3 * 18, 3 * 3 * 8, 3 * 5 * 4, 3 * 2 * 64, 3 * 128, 3 * 2 * 256, 3 * 256]);
    }

    fn candidates(product: &Product, abilities: Abilities) -> Vec<&'static str> {
        let default = product.variants()[0].kernel;
        product.candidates(abilities).map(|variant| variant.kernel.trim_start_matches(default)).collect()
    }

    #[test]
    fn large_tiles_are_timed_if_a_product_fills_a_few() {
        let timed = |rows, inputs, outputs| candidates(&dense(Pass::Forward, rows, inputs, outputs), REAL);
        assert_eq!(timed(128, 784, 512), ["", "_sliced", "_shared", "_large"]);
        assert_eq!(timed(127, 784, 512), ["", "_sliced", "_shared"]);
        // A quarter of a tile's columns is enough; less is not.
        assert_eq!(timed(100_000, 784, 16), ["", "_shared", "_large"]);
        assert_eq!(timed(100_000, 784, 12), ["", "_shared"]);
        // Each part of a gradient has its own tiles: three parts of 6 × 1 tiles.
        let gradient = dense(Pass::WeightGradient, 48, 784, 28);
        assert_eq!(candidates(&gradient, REAL), ["", "_shared", "_large"]);
    }

    #[test]
    fn sums_of_few_results_are_divided_within_a_workgroup() {
        let timed =
            |pass, rows, inputs, outputs| candidates(&dense(pass, rows, inputs, outputs), REAL).contains(&"_sliced");
        assert!(timed(Pass::Forward, 128, 9216, 128));
        assert!(!timed(Pass::Forward, 128, 128, 9216));
        assert!(timed(Pass::InputGradient, 128, 128, 9216));
        assert!(!timed(Pass::InputGradient, 128, 9216, 128));
        assert!(!timed(Pass::WeightGradient, 128, 128, 128));
    }

    #[test]
    fn variants_for_emulated_gpus_are_not_offered_to_real_ones() {
        let product = dense(Pass::Forward, 128, 784, 128);
        assert_eq!(candidates(&product, EMULATED), ["", "_subgroup", "_thin", "_sliced", "_shared"]);
        let four_lanes = Abilities { subgroup_lanes: 4, ..EMULATED };
        assert_eq!(candidates(&product, four_lanes), ["", "_four_lanes", "_sliced", "_shared"]);
        assert_eq!(candidates(&product, REAL), ["", "_sliced", "_shared"]);
        // Tests of kernels run them on every device that can.
        let with_matrices = Abilities { matrices: true, large_matrix_tiles: true, ..REAL };
        assert_eq!(product.variants_with(with_matrices).count(), product.variants().len());
    }

    #[test]
    fn a_device_opened_for_matrix_units_times_nothing_else() {
        for software in [false, true] {
            let abilities = Abilities { software, matrices: true, stored: Stored::F16, ..EMULATED };
            for pass in Pass::ALL {
                // Applies to products of any size.
                let product = dense(pass, 1, 8, 8);
                assert_eq!(candidates(&product, abilities), ["_matrix"]);
                assert!(product.usual_variant(abilities).kernel.ends_with("_matrix"));
                assert!(!candidates(&product, EMULATED).contains(&"_matrix"));
            }
            // Large tiles are also timed if they fit on the device and the product fills a few.
            let large = Abilities { large_matrix_tiles: true, ..abilities };
            let product = |rows| dense(Pass::Forward, rows, 784, 512);
            assert_eq!(candidates(&product(256), large), ["_matrix", "_matrix_large"]);
            assert_eq!(candidates(&product(255), large), ["_matrix"]);
            // Products without such a variant are chosen as usual.
            let lstm = lstm(Pass::Forward, 896);
            assert_eq!(lstm.usual_variant(abilities), lstm.usual_variant(Abilities { software, ..EMULATED }));
        }
    }

    #[test]
    fn an_emulated_gpu_never_takes_workgroup_tiles_untimed() {
        for (rows, inputs, outputs) in [(128, 128, 128), (1024, 4096, 4096), (64, 64, 64), (1, 8, 8)] {
            for pass in Pass::ALL {
                let usual = dense(pass, rows, inputs, outputs).usual_variant(EMULATED);
                assert!(usual.invocations_per_tile <= SUBGROUP_LANES, "{}", usual.kernel);
            }
        }
    }
}
