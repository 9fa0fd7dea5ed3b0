//! Converts the definition in a file to the engine's workload.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use engine::{
    Augmentation, Batching, DataSetDefinition, Flip, InputRecipe, Normalization, Origin, SampleOrder, Schedule, Shape,
    Shift, TestView, TrainingRange, Workload,
};
use results::Goal;
use toml::de::DeValue;

use crate::text::did_you_mean;
use crate::workload_file::definition::{LastBatch, PreprocessingOptions, TestViews, Windows, WorkloadDefinition};
use crate::workload_file::network;
use crate::workload_file::place::{Located, Mistake};

/// Relative tolerance of early losses, the same as for built-in workloads.
const LOSS_TOLERANCE: f64 = 1e-3;
const MAX_BATCH_SIZE: u32 = 1 << 16;
/// Limit on units, filters and the like.
const MAX_CHANNELS: u32 = 1 << 16;
/// Limit on sides of images and windows, and on strides.
const MAX_SIDE: u32 = 256;
/// Limit on the characters of a window; attention computes a score for each pair.
const MAX_WINDOW: u32 = 4096;

/// Bounds of whole numbers by field name, with the parent field if several fields share the name.
const WHOLE: [(u32, u32, &str); 7] = [
    (1, 100_000, "epochs"),
    (1, 100, "evaluations_per_epoch"),
    (1, MAX_SIDE, "image_size kernel_size stride size"),
    (0, MAX_SIDE, "shift.pixels radius"),
    (1, MAX_CHANNELS, "units filters"),
    (1, 4096, "heads"),
    (1, 1 << 24, "per_epoch"),
];

/// Allowed numbers in words, and their test.
type Bound = (&'static str, fn(f64) -> bool);

const NOT_NEGATIVE: Bound = ("a number of at least 0", |number| number >= 0.0);
const SHARE: Bound = ("a share from 0 to 1", |number| (0.0..=1.0).contains(&number));

/// Bounds of other numbers.
const BOUNDS: [(Bound, &str); 6] = [
    (("at least 1 update", |number| number >= 1.0), "every"),
    (
        ("a number above 0", |number| number > 0.0),
        "threshold divisor contrast deviation optimizer.learning_rate largest_gradient epsilon staircase.factor drop.factor \
         logits_scale local_response_norm.bias alpha scale limit target_loss",
    ),
    (NOT_NEGATIVE, "brightness learning_rate weight_decay gamma power"),
    (("a finite number", |_| true), "mean beta value"),
    (SHARE, "target_accuracy shift.share frozen_from decay linear_until cosine.last"),
    // A share that is kept or dropped in each step.
    (
        ("from 0 to below 1", |number| (0.0..1.0).contains(&number)),
        "momentum rho beta1 beta2 warm_up label_smoothing largest rate",
    ),
];

/// Checks each number that has a bound. `field` holds the value, and `around` is its parent field.
///
/// They are one array because rustc 1.95 miscompiles two arguments: with optimization, `around` keeps the value of the
/// first call.
fn check_bounds(value: Located<'_>, [around, field]: [&str; 2]) -> Result<(), Mistake> {
    match value.0.get_ref() {
        DeValue::Array(items) => items.iter().try_for_each(|item| check_bounds(Located(item), [around, field])),
        DeValue::Table(fields) => {
            fields.iter().try_for_each(|(name, value)| check_bounds(Located(value), [field, name.get_ref().as_ref()]))
        }
        _ => {
            let Some(number) = value.number() else { return Ok(()) };
            let is_this = |name: &str| name == field || name.split_once('.') == Some((around, field));
            if let Some((least, most, _)) = WHOLE.iter().find(|(.., names)| names.split(' ').any(is_this)) {
                return value.check_whole(number, *least, *most);
            }
            let bound = BOUNDS.iter().find(|(_, names)| names.split(' ').any(is_this));
            bound.map_or(Ok(()), |(bound, _)| check_number(value, number, *bound))
        }
    }
}

fn check_number(value: Located<'_>, number: f64, (allowed, is_allowed): Bound) -> Result<(), Mistake> {
    #[expect(clippy::cast_possible_truncation, reason = "as the engine reads many of them")]
    let in_single_precision = f64::from(number as f32);
    if [number, in_single_precision].into_iter().all(|number| number.is_finite() && is_allowed(number)) {
        return Ok(());
    }
    value.refuse(format!("must be {allowed}, but is {number}"))
}

pub(crate) fn workload(definition: &WorkloadDefinition, root: Located<'_>) -> Result<Workload, Mistake> {
    check_bounds(root, ["", ""])?;
    let name = name(root.field("name"), &definition.name)?;
    let title = line(root.field("title"), &definition.title, 100)?;
    let description = line(root.field("description"), &definition.description, 1000)?;
    let set = data_set(root.field("data_set"), &definition.data_set)?;
    check_windows(root, definition, set)?;
    check_samples(root, definition, set)?;
    let (input, shape) = input(root.field("preprocessing"), definition, set)?;
    if let Schedule::Linear { points } = &definition.optimizer.schedule {
        check_points(root.field("optimizer").field("schedule").field("linear").field("points"), points)?;
    }
    let model = network::model(name, set, shape, &definition.layers, root.field("layers"))?;
    Ok(Workload {
        name,
        title: if title.is_empty() { name } else { title },
        description,
        data_set: &set.name,
        training: definition.training_samples,
        model,
        input,
        loss: definition.loss,
        optimizer: definition.optimizer.clone(),
        average: definition.average,
        early_stopping: definition.early_stopping,
        reduced: None,
        batch_size: definition.batch_size,
        order: match definition.windows {
            Some(Windows { per_epoch, .. }) => SampleOrder::Drawn { per_epoch },
            None if definition.shuffle => SampleOrder::Shuffled,
            None => SampleOrder::File,
        },
        batching: match definition.last_batch {
            LastBatch::Short => Batching::ShortLast,
            LastBatch::Drop => Batching::DropLast,
            LastBatch::Wrap => Batching::Wrap,
        },
        published_epochs: definition.epochs,
        target: target(root.field("target_loss"), definition, set)?,
        evaluations_per_epoch: definition.evaluations_per_epoch,
        loss_tolerance: LOSS_TOLERANCE,
    })
}

/// Interns a text: the engine's names live as long as the process.
fn leak_text(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = all.get(text).copied().unwrap_or_else(|| text.to_owned().leak());
    all.insert(known);
    known
}

fn name(value: Located<'_>, name: &str) -> Result<&'static str, Mistake> {
    const MAX_NAME_LENGTH: usize = 40;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(is_plain)
        || name.len() > MAX_NAME_LENGTH
    {
        return value.refuse(format!(
            "a name has lowercase letters, digits and hyphens, starts with a letter, and has at most {MAX_NAME_LENGTH} \
             characters"
        ));
    }
    if engine::workload(name).is_some() {
        return value.refuse(format!("a built-in workload is named `{name}`; choose another name"));
    }
    Ok(leak_text(name))
}

/// Collapses whitespace in a text that is shown on one line.
fn line(value: Located<'_>, text: &str, longest: usize) -> Result<&'static str, Mistake> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > longest || !line.chars().all(results::is_plain) {
        return value.refuse(format!("it must be at most {longest} visible characters"));
    }
    Ok(leak_text(&line))
}

fn data_set(value: Located<'_>, name: &str) -> Result<&'static DataSetDefinition, Mistake> {
    engine::data_set(name).ok_or_else(|| {
        let known: Vec<&str> = engine::DATA_SETS.iter().map(|set| set.name.as_str()).collect();
        let close = did_you_mean(name, known.iter().copied());
        value.mistake(format!("there is no data set named `{name}`; available: {}{close}", known.join(", ")))
    })
}

fn target(loss: Located<'_>, definition: &WorkloadDefinition, set: &DataSetDefinition) -> Result<Goal, Mistake> {
    match (definition.target_accuracy, definition.target_loss) {
        (Some(_), Some(_)) => loss.refuse("there can be one target: remove `target_accuracy` or `target_loss`"),
        (Some(accuracy), None) => Ok(Goal::Accuracy(accuracy)),
        (None, Some(loss)) => Ok(Goal::Loss(loss)),
        (None, None) => Ok(if set.is_text() { Goal::Loss(0.0) } else { Goal::Accuracy(1.0) }),
    }
}

fn check_windows(root: Located<'_>, definition: &WorkloadDefinition, set: &DataSetDefinition) -> Result<(), Mistake> {
    match (definition.windows, set.is_text()) {
        (None, false) => Ok(()),
        (None, true) => root.field("data_set").refuse(format!(
            "{} is a text, so the network needs windows of it: add `windows = {{ characters = 64, per_epoch = 2400 }}`",
            set.name
        )),
        (Some(_), false) => {
            root.field("windows").refuse(format!("{} is not a text, so it has no windows: remove this field", set.name))
        }
        (Some(Windows { characters, .. }), true) => {
            // The test part must have a whole window and the label of its last character.
            let longest = MAX_WINDOW.min(set.test.samples - 1);
            root.field("windows").field("characters").check_whole(characters, 1, longest)?;
            if definition.training_samples.is_some() {
                let text = "windows are drawn from the whole training text: remove this field";
                return root.field("training_samples").refuse(text);
            }
            if !definition.shuffle {
                return root.field("shuffle").refuse("windows are drawn in a random order: remove this field");
            }
            Ok(())
        }
    }
}

fn check_samples(root: Located<'_>, definition: &WorkloadDefinition, set: &DataSetDefinition) -> Result<(), Mistake> {
    let all = set.train.samples;
    let mut trained = all;
    if let Some(TrainingRange { first, samples }) = definition.training_samples {
        let range = root.field("training_samples");
        range.field("first").check_whole(first, 0, all - 1)?;
        range.field("samples").check_whole(samples, 1, all - first)?;
        trained = samples;
    }
    let windows = definition.windows;
    let epoch = windows.map_or(trained, |windows| windows.per_epoch);
    root.field("batch_size").check_whole(definition.batch_size, 1, epoch.min(MAX_BATCH_SIZE))?;
    if definition.last_batch == LastBatch::Wrap && definition.shuffle {
        let advice = if windows.is_some() { "use `short` or `drop` with `windows`" } else { "set `shuffle = false`" };
        return root.field("last_batch").refuse(format!("`wrap` needs the order of the file: {advice}"));
    }
    if definition.early_stopping.is_some() && trained == all {
        let advice = if windows.is_some() { "`windows` leaves none" } else { "reduce `training_samples`" };
        let text = format!("early stopping needs samples that are not trained on: {advice}");
        return root.field("early_stopping").refuse(text);
    }
    Ok(())
}

fn check_points(value: Located<'_>, points: &[(f64, f64)]) -> Result<(), Mistake> {
    for (number, (share, factor)) in points.iter().enumerate() {
        check_number(value.item(number).item(0), *share, SHARE)?;
        check_number(value.item(number).item(1), *factor, NOT_NEGATIVE)?;
    }
    if points.is_empty() || !points.is_sorted_by(|(one, _), (next, _)| one <= next) {
        return value.refuse("it must have points, in the order of their shares of the training");
    }
    Ok(())
}

fn input(
    value: Located<'_>,
    definition: &WorkloadDefinition,
    set: &DataSetDefinition,
) -> Result<(InputRecipe, Shape), Mistake> {
    let options = &definition.preprocessing;
    let &PreprocessingOptions { normalization, image_size, edge, flip, shift, brightness, contrast, .. } = options;
    let words = match (&set.origin, definition.windows) {
        (Origin::Stories(_), _) => Some(("words", Shape::vector(set.train.features()))),
        (_, Some(Windows { characters, .. })) => Some(("characters", Shape::new(1, characters, 1))),
        _ => None,
    };
    if let Some((name, shape)) = words {
        if *options != PreprocessingOptions::default() {
            return value.refuse(format!("the samples of {} are {name}, so this is not possible", set.name));
        }
        return Ok((InputRecipe::scaled(1.0), shape));
    }
    let image = Shape::new(set.train.height, set.train.width, set.train.channels);
    let shape = image_size.map_or(image, |size| Shape { height: size, width: size, ..image });
    let wrong = |text: &str| value.field("normalization").refuse(text);
    match normalization {
        Normalization::WholeSet if shape.features() < image.features() => {
            return wrong("`whole_set` is the mean of whole images, but `image_size` crops them");
        }
        Normalization::LocalContrast if shape.channels != 3 || shape != image => {
            return wrong("`local_contrast` is for whole color images");
        }
        _ => {}
    }
    if contrast.is_some_and(|(low, high)| low > high) {
        return value.field("contrast").refuse("the lower factor comes first");
    }
    let light = if brightness == 0.0 { contrast.map(|_| "contrast") } else { Some("brightness") };
    if let Some(field) = light.filter(|_| normalization != Normalization::EachImage) {
        return value.field(field).refuse("it needs `normalization = \"each_image\"`, which computes it");
    }
    let augmentation = Augmentation { flip, shift, brightness, contrast };
    let test_views = match options.test_views {
        TestViews::Plain => TestView::PLAIN,
        TestViews::MirroredAndMoved if flip != Flip::Never || shift != Shift::None => TestView::MIRROR_AND_SHIFT,
        TestViews::MirroredAndMoved => {
            let text = "a network that is trained without `flip` and `shift` is tested without them";
            return value.field("test_views").refuse(text);
        }
    };
    let divisor = options.divisor.unwrap_or(255.0);
    Ok((InputRecipe { divisor, normalization, edge, augmentation, test_views }, shape))
}
