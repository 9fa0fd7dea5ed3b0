use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the bytes of a sample become what the network sees, on the device. Where the network's image is smaller or
/// larger than the sample's, the middle is cut out or a border is added.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InputRecipe {
    /// A byte becomes `byte / divisor`, in float32.
    pub divisor: f32,
    pub normalization: Normalization,
    /// What lies beyond the edges of an image.
    pub edge: Edge,
    /// In training only.
    pub augmentation: Augmentation,
    /// In tests, logits are the weighted sum of those of these views of a sample.
    pub test_views: &'static [TestView],
}

/// A sample as a test looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TestView {
    pub mirrored: bool,
    /// Rows and columns by which the image moves down and right.
    pub down: i32,
    pub right: i32,
    pub weight: f32,
}

impl TestView {
    /// The sample itself.
    pub const PLAIN: &'static [Self] = &[Self { mirrored: false, down: 0, right: 0, weight: 1.0 }];

    /// The sample and its mirror image with half of the weight, and both moved by a pixel up and left, and down and
    /// right, with the other half.
    pub const MIRRORED_AND_MOVED: &'static [Self] = &[
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
    /// Brightness and colours apart: Y normalised by its neighbourhood, U and V by the training set, as Torch's
    /// CIFAR-10 demonstration does it.
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
    /// Brightness changes by at most this.
    pub brightness: f32,
    /// Contrast is multiplied by a factor from this range.
    pub contrast: Option<(f32, f32)>,
}

/// Left and right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flip {
    #[default]
    Never,
    /// With a chance of one half, each time.
    Random,
    /// Decided once for each image, then the other way in every other epoch.
    Alternating,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    #[default]
    None,
    /// By whole pixels, at most so many in each direction.
    Pixels(u32),
    /// By at most this share of the side, to the nearest pixel.
    Share(f32),
}

impl Augmentation {
    pub const NONE: Self = Self { flip: Flip::Never, shift: Shift::None, brightness: 0.0, contrast: None };
}

impl InputRecipe {
    /// Bytes divided by a number, and nothing else.
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
