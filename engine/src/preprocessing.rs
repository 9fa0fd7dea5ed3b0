//! Kernel parameters for a workload's input recipe.

use shaders::Real;
use shaders::params::{
    Gather, GatherAugmented, GatherWindows, LOCAL_CONTRAST_PIXELS, LocalContrast, Standardize, Step, edge, flip,
    normalization, shift,
};
use shaders::reference as twin;

use crate::data::Split;
use crate::error::EngineError;
use crate::model::{ModelError, Storage, Value};
use crate::random::stream;
use crate::training::{Augmentation, Edge, Flip, Normalization, Shift, TestView, TrainingJob};

/// Minimum deviation in Torch's local contrast normalization.
const LOCAL_CONTRAST_THRESHOLD: f32 = 1e-4;

pub(crate) struct Preprocessing {
    pub(crate) gather: GatherKind,
    /// Mean image of the training set, or a single zero.
    pub(crate) mean_image: Vec<f32>,
    pub(crate) standardize: Option<Standardize>,
    pub(crate) local_contrast: Option<LocalContrast>,
}

#[derive(Clone, Copy)]
pub(crate) enum GatherKind {
    Plain(Gather),
    Augmented(GatherAugmented),
    Windows(GatherWindows),
}

impl GatherKind {
    /// Returns the parameters for one view of an evaluation.
    pub(crate) fn seen(self, view: &TestView) -> Self {
        match self {
            Self::Augmented(params) => Self::Augmented(GatherAugmented {
                // Evaluation does not mirror at random.
                flip: if view.mirrored { flip::ALWAYS } else { flip::NEVER },
                offset_y: params.offset_y - view.down,
                offset_x: params.offset_x - view.right,
                ..params
            }),
            // Only workloads with augmentation have views.
            others @ (Self::Plain(_) | Self::Windows(_)) => others,
        }
    }

    /// Returns the parameters for samples that are stored in gathering order.
    #[cfg(feature = "wgsl")]
    pub(crate) fn streamed(self) -> Self {
        match self {
            Self::Plain(params) => Self::Plain(Gather { streamed: 1, ..params }),
            Self::Augmented(params) => Self::Augmented(GatherAugmented { streamed: 1, ..params }),
            windows @ Self::Windows(_) => windows,
        }
    }

    /// Returns the parameters for `rows` of `samples`. Those from `samples_in_first` on are in the second binding.
    pub(crate) fn of(self, rows: u32, samples: u32, samples_in_first: u32) -> Self {
        match self {
            Self::Plain(params) => Self::Plain(Gather { rows, samples, samples_in_first, ..params }),
            Self::Augmented(params) => Self::Augmented(GatherAugmented { rows, samples, samples_in_first, ..params }),
            Self::Windows(params) => Self::Windows(GatherWindows { rows, samples, ..params }),
        }
    }
}

impl Preprocessing {
    /// Creates the preprocessing that writes to `data`, the job's first value. A batch sets row and sample counts.
    pub(crate) fn new(job: &TrainingJob, data: &Value, alignment: u32) -> Result<Self, EngineError> {
        let recipe = &job.input;
        let row_stride = data.stored_features(alignment);
        let shape = data.shape;
        let is_local = recipe.normalization == Normalization::LocalContrast;
        if is_local && (shape.channels != 3 || shape.pixels() > LOCAL_CONTRAST_PIXELS) {
            let reason = format!("local contrast is for color images of at most {LOCAL_CONTRAST_PIXELS} pixels");
            return Err(ModelError::Unsupported { model: job.model.name, layer: 0, reason }.into());
        }
        let local_contrast = is_local.then(|| local_contrast(job, shape.height, shape.width, row_stride));
        let Augmentation { brightness, contrast, .. } = recipe.augmentation;
        let (lowest_contrast, highest_contrast) = contrast.unwrap_or((1.0, 1.0));
        let standardize = (recipe.normalization == Normalization::EachImage).then_some(Standardize {
            rows: 0,
            pixels: shape.pixels(),
            channels: shape.channels,
            row_stride,
            brightness,
            lowest_contrast,
            highest_contrast,
            stream: stream::LIGHT,
        });
        let uses_mean = recipe.normalization == Normalization::MeanImage;
        let mean_image = if uses_mean { job.data.mean_image().to_vec() } else { vec![0.0] };
        Ok(Self { gather: gather(job, data, alignment), mean_image, standardize, local_contrast })
    }

    /// Prepares a step's samples with the reference loops, for backends that do this on the host. Returns values of
    /// shape (rows, `row_stride`) and the labels. Layouts have no padding.
    pub(crate) fn on_host<T: Real>(
        &self,
        kind: GatherKind,
        split: &Split,
        order: &[u32],
        step: &Step,
        row_stride: u32,
    ) -> (Vec<T>, Vec<u32>) {
        let samples = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let rows = step.count;
        let mut batch = vec![T::ZERO; (rows * row_stride) as usize];
        let positions = if let GatherKind::Windows(params) = kind { params.window } else { 1 };
        let mut labels = vec![0; (rows * positions) as usize];
        match kind.of(rows, samples, split.samples()) {
            GatherKind::Windows(params) => {
                twin::gather_windows(&params, step, &split.images, order, &mut batch, &mut labels);
            }
            GatherKind::Plain(params) => {
                twin::gather(&params, step, &split.images, &split.labels, order, &mut batch, &mut labels);
            }
            GatherKind::Augmented(params) => {
                let (Split { images, labels: all }, mean) = (split, &self.mean_image);
                twin::gather_augmented(&params, step, images, all, order, mean, &mut batch, &mut labels);
            }
        }
        if let Some(params) = self.standardize {
            twin::standardize(&Standardize { rows, ..params }, step, &mut batch);
        }
        if let Some(params) = self.local_contrast {
            twin::local_contrast(&LocalContrast { rows, ..params }, step, &mut batch);
        }
        (batch, labels)
    }
}

fn gather(job: &TrainingJob, data: &Value, alignment: u32) -> GatherKind {
    let (recipe, file) = (&job.input, &job.data.definition.train);
    let (shape, row_stride) = (data.shape, data.stored_features(alignment));
    if job.data.definition.is_text() {
        return GatherKind::Windows(GatherWindows {
            rows: 0,
            window: shape.features(),
            stride: row_stride,
            samples: 0,
        });
    }
    let simple =
        matches!(recipe.normalization, Normalization::None | Normalization::EachImage | Normalization::LocalContrast)
            && recipe.augmentation.flip == Flip::Never
            && recipe.augmentation.shift == Shift::None
            && file.features() == shape.features();
    if simple && data.storage == Storage::Flat {
        return GatherKind::Plain(Gather {
            rows: 0,
            // Devices store samples in whole words.
            features: shape.features().next_multiple_of(alignment),
            stride: row_stride,
            samples: 0,
            divisor: recipe.divisor,
            samples_in_first: 0,
            streamed: 0,
            reserved: 0,
        });
    }
    let mut params = GatherAugmented {
        source_height: file.height,
        source_width: file.width,
        height: shape.height,
        width: shape.width,
        channels: file.channels,
        channel_stride: data.stored_channels(alignment),
        row_stride,
        offset_y: middle(file.height, shape.height),
        offset_x: middle(file.width, shape.width),
        edge: match recipe.edge {
            Edge::Zero => edge::ZERO,
            Edge::Nearest => edge::NEAREST,
            Edge::Reflect => edge::REFLECT,
        },
        flip: match recipe.augmentation.flip {
            Flip::Never => flip::NEVER,
            Flip::Random => flip::RANDOM,
            Flip::Alternating => flip::ALTERNATING,
        },
        divisor: recipe.divisor,
        stream: stream::AUGMENTATION,
        ..GatherAugmented::default()
    };
    (params.shift, params.shift_range) = match recipe.augmentation.shift {
        Shift::None => (shift::NONE, 0),
        Shift::Pixels(pixels) => (shift::WHOLE, pixels),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few pixels")]
        Shift::Share(share) => {
            let units = f64::from(share) * f64::from(file.width * shift::REAL_UNITS);
            (shift::REAL, units.round() as u32)
        }
    };
    normalize(job, &mut params);
    GatherKind::Augmented(params)
}

/// Returns the first pixel of a centered crop, which is negative for a border.
fn middle(given: u32, wanted: u32) -> i32 {
    (i32::try_from(given).unwrap_or(i32::MAX) - i32::try_from(wanted).unwrap_or(i32::MAX)) / 2
}

#[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
fn normalize(job: &TrainingJob, params: &mut GatherAugmented) {
    match job.input.normalization {
        Normalization::None | Normalization::EachImage | Normalization::LocalContrast => {}
        Normalization::MeanImage => params.normalization = normalization::MEAN_IMAGE,
        Normalization::Channels { mean, deviation } => {
            params.normalization = normalization::CHANNELS;
            for channel in 0..3 {
                params.mean[channel] = mean[channel];
                params.inverse_deviation[channel] = (1.0 / f64::from(deviation[channel])) as f32;
            }
        }
        Normalization::WholeSet => {
            params.normalization = normalization::CHANNELS;
            let moments = job.data.moments(job.model.input.features());
            let divisor = f64::from(job.input.divisor);
            params.mean = [(moments.mean / divisor) as f32; 4];
            params.inverse_deviation = [(divisor / moments.standard_deviation) as f32; 4];
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
fn local_contrast(job: &TrainingJob, height: u32, width: u32, row_stride: u32) -> LocalContrast {
    let [u, v] = job.data.chrominance_moments();
    // Torch's script divides by the negated deviation.
    let scale = |deviation: f64| (-1.0 / deviation) as f32;
    LocalContrast {
        rows: 0,
        height,
        width,
        row_stride,
        mean_u: u.mean as f32,
        mean_v: v.mean as f32,
        scale_u: scale(u.standard_deviation),
        scale_v: scale(v.standard_deviation),
        threshold: LOCAL_CONTRAST_THRESHOLD,
        reserved: [0; 3],
    }
}
