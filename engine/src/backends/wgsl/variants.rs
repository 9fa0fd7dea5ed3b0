//! The kernels that compute the same product, and the work of each.

use shaders::params::{Conv2d, Dense};

use super::device::Device;
use super::layout::CHANNEL_ALIGNMENT;

/// A product with the parameter block that its kernels get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Product {
    DenseForward(Dense),
    DenseInputGradient(Dense),
    /// Of all parts.
    DenseWeightGradient(Dense),
    Conv2dForward(Conv2d),
    Conv2dInputGradient(Conv2d),
    /// Of all parts.
    Conv2dWeightGradient(Conv2d),
}

/// The matrix product that it amounts to: so many parts of rows × columns, each a sum of `depth` products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extents {
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) depth: u32,
    pub(super) parts: u32,
}

/// A kernel that computes a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) kernel: &'static str,
    /// Rows and columns of the tile of the result that belong together.
    tile: [u32; 2],
    invocations_per_tile: u32,
    needs: Needs,
}

/// What a variant asks of a device beyond the ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// Eight lanes of a subgroup.
    Subgroups,
}

const fn registers(kernel: &'static str) -> Variant {
    Variant { kernel, tile: [8, 8], invocations_per_tile: 1, needs: Needs::Nothing }
}

const fn subgroup(kernel: &'static str) -> Variant {
    Variant { kernel, tile: [32, 32], invocations_per_tile: SUBGROUP_LANES, needs: Needs::Subgroups }
}

/// Lanes that share a tile in the variants that use subgroups.
const SUBGROUP_LANES: u32 = 8;
/// On an emulated GPU a product with subgroups takes this share of the time of one without, tile for tile: between 0.17
/// and 0.48 on llvmpipe.
const SUBGROUP_SHARE: f64 = 0.4;

// The first of each list runs everywhere and is the default.
const DENSE_FORWARD: &[Variant] = &[registers("dense_forward"), subgroup("dense_forward_subgroup")];
const DENSE_INPUT_GRADIENT: &[Variant] =
    &[registers("dense_input_gradient"), subgroup("dense_input_gradient_subgroup")];
const DENSE_WEIGHT_GRADIENT: &[Variant] =
    &[registers("dense_weight_gradient"), subgroup("dense_weight_gradient_subgroup")];
const CONV2D_FORWARD: &[Variant] = &[registers("conv2d_forward"), subgroup("conv2d_forward_subgroup")];
const CONV2D_FORWARD_NARROW: &[Variant] = &[registers("conv2d_forward_narrow")];
const CONV2D_INPUT_GRADIENT: &[Variant] =
    &[registers("conv2d_input_gradient"), subgroup("conv2d_input_gradient_subgroup")];
const CONV2D_WEIGHT_GRADIENT: &[Variant] =
    &[registers("conv2d_weight_gradient"), subgroup("conv2d_weight_gradient_subgroup")];
const CONV2D_WEIGHT_GRADIENT_NARROW: &[Variant] = &[registers("conv2d_weight_gradient_narrow")];

impl Product {
    /// Every kernel that can do it; the first one runs on every device.
    pub(super) fn variants(&self) -> &'static [Variant] {
        let narrow = |params: &Conv2d| !params.input_channels.is_multiple_of(CHANNEL_ALIGNMENT);
        match self {
            Self::DenseForward(_) => DENSE_FORWARD,
            Self::DenseInputGradient(_) => DENSE_INPUT_GRADIENT,
            Self::DenseWeightGradient(_) => DENSE_WEIGHT_GRADIENT,
            Self::Conv2dForward(params) if narrow(params) => CONV2D_FORWARD_NARROW,
            Self::Conv2dForward(_) => CONV2D_FORWARD,
            Self::Conv2dInputGradient(_) => CONV2D_INPUT_GRADIENT,
            Self::Conv2dWeightGradient(params) if narrow(params) => CONV2D_WEIGHT_GRADIENT_NARROW,
            Self::Conv2dWeightGradient(_) => CONV2D_WEIGHT_GRADIENT,
        }
    }

    pub(super) fn extents(&self) -> Extents {
        match *self {
            Self::DenseForward(p) => Extents { rows: p.rows, columns: p.outputs, depth: p.inputs, parts: 1 },
            Self::DenseInputGradient(p) => Extents { rows: p.rows, columns: p.inputs, depth: p.outputs, parts: 1 },
            Self::DenseWeightGradient(p) => Extents {
                rows: p.inputs,
                columns: p.outputs,
                depth: p.rows_per_part,
                parts: p.rows.div_ceil(p.rows_per_part),
            },
            Self::Conv2dForward(p) => Extents {
                rows: p.rows * p.output_height * p.output_width,
                columns: p.output_channels,
                depth: p.side * p.side * p.input_channels,
                parts: 1,
            },
            Self::Conv2dInputGradient(p) => Extents {
                rows: p.rows * p.input_height * p.input_width,
                columns: p.input_channels,
                depth: p.side * p.side * p.output_channels,
                parts: 1,
            },
            Self::Conv2dWeightGradient(p) => Extents {
                rows: p.side * p.side * p.input_channels,
                columns: p.output_channels,
                depth: p.pixels_per_part,
                parts: (p.rows * p.output_height * p.output_width).div_ceil(p.pixels_per_part),
            },
        }
    }

    /// Values of the kernels' constants.
    pub(super) fn constants(&self) -> Vec<(&'static str, f64)> {
        match self {
            Self::DenseForward(_) | Self::DenseInputGradient(_) | Self::DenseWeightGradient(_) => Vec::new(),
            Self::Conv2dForward(p) | Self::Conv2dInputGradient(p) | Self::Conv2dWeightGradient(p) => {
                vec![("STRIDE", f64::from(p.stride))]
            }
        }
    }

    /// The variants that `device` has, the default first.
    pub(super) fn variants_on(&self, device: &Device) -> impl Iterator<Item = &'static Variant> + use<> {
        let lanes = device.subgroup_lanes();
        self.variants().iter().filter(move |variant| match variant.needs {
            Needs::Nothing => true,
            Needs::Subgroups => lanes >= SUBGROUP_LANES,
        })
    }

    /// The variant for `device` as a rule, without timing.
    ///
    /// On emulated GPUs a tile of a subgroup beats a tile of one invocation unless most of it lies outside of the result.
    pub(super) fn usual_variant(&self, device: &Device) -> &'static Variant {
        let extents = self.extents();
        let usual = &self.variants()[0];
        if !device.adapter().software {
            return usual;
        }
        let subgroup = self.variants_on(device).find(|variant| variant.needs == Needs::Subgroups);
        let covered = |variant: &Variant| variant.covered(&extents) as f64;
        subgroup.filter(|&variant| covered(variant) * SUBGROUP_SHARE < covered(usual)).unwrap_or(usual)
    }
}

impl Variant {
    fn tiles(&self, extents: &Extents) -> u64 {
        let [rows, columns] = self.tile;
        u64::from(extents.parts) * u64::from(extents.rows.div_ceil(rows)) * u64::from(extents.columns.div_ceil(columns))
    }

    /// Elements of all tiles, of which some lie beyond the edges of the result.
    fn covered(&self, extents: &Extents) -> u64 {
        self.tiles(extents) * u64::from(self.tile[0]) * u64::from(self.tile[1])
    }

    /// Invocations that compute `product`.
    pub(super) fn invocations(&self, product: &Product) -> u64 {
        self.tiles(&product.extents()) * u64::from(self.invocations_per_tile)
    }
}
