use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conversion of a sample's bytes to the network's input. Images of other sizes are center-cropped or get a border.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InputRecipe {
    /// Divisor of each byte, in float32.
    pub divisor: f32,
    pub normalization: Normalization,
    /// Values outside the image.
    pub edge: Edge,
    /// Augmentation, applied in training only.
    pub augmentation: Augmentation,
    /// Views of a test sample. Its logits are their weighted sum.
    pub test_views: &'static [TestView],
}

/// Transformed copy of a test sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TestView {
    pub mirrored: bool,
    /// Rows that the image moves down.
    pub down: i32,
    /// Columns that the image moves right.
    pub right: i32,
    pub weight: f32,
}

impl TestView {
    pub const PLAIN: &'static [Self] = &[Self { mirrored: false, down: 0, right: 0, weight: 1.0 }];

    /// Sample and mirror image with half of the weight, and both moved one pixel up-left and down-right.
    pub const MIRROR_AND_SHIFT: &'static [Self] = &[
        Self { mirrored: false, down: 0, right: 0, weight: 0.25 },
        Self { mirrored: true, down: 0, right: 0, weight: 0.25 },
        Self { mirrored: false, down: -1, right: -1, weight: 0.125 },
        Self { mirrored: true, down: -1, right: -1, weight: 0.125 },
        Self { mirrored: false, down: 1, right: 1, weight: 0.125 },
        Self { mirrored: true, down: 1, right: 1, weight: 0.125 },
    ];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Normalization {
    #[default]
    None,
    /// Each channel minus its mean, divided by its deviation.
    Channels { mean: [f32; 3], deviation: [f32; 3] },
    /// All values minus the mean of the whole training set, divided by its deviation.
    WholeSet,
    /// Each value minus the mean image of the training set.
    MeanImage,
    /// Each image minus its mean, divided by its deviation, which counts as at least `1 / √values`.
    EachImage,
    /// Y normalized by its neighborhood, U and V by the training set, as in Torch's CIFAR-10 demonstration.
    LocalContrast,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// Black pixels.
    #[default]
    Zero,
    /// The nearest pixel.
    Nearest,
    /// The image mirrored, its last pixel not repeated.
    Reflect,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Augmentation {
    pub flip: Flip,
    pub shift: Shift,
    /// Largest change of brightness.
    pub brightness: f32,
    /// Range of the contrast factor.
    pub contrast: Option<(f32, f32)>,
}

/// Horizontal mirroring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flip {
    #[default]
    Never,
    /// With probability 1/2, each time.
    Random,
    /// Random for each image, then alternating with every epoch.
    Alternating,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    #[default]
    None,
    /// By whole pixels, up to this number in each direction.
    Pixels(u32),
    /// By at most this share of the side, to the nearest pixel.
    Share(f32),
}

impl Augmentation {
    pub const NONE: Self = Self { flip: Flip::Never, shift: Shift::None, brightness: 0.0, contrast: None };
}

impl InputRecipe {
    pub const fn scaled(divisor: f32) -> Self {
        Self {
            divisor,
            normalization: Normalization::None,
            edge: Edge::Zero,
            augmentation: Augmentation::NONE,
            test_views: TestView::PLAIN,
        }
    }
}
