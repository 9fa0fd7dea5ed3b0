//! From what a file says to the engine's workload: in this place, and nowhere else.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use engine::{
    Augmentation, Batching, DataSetDefinition, EarlyStopping, Flip, InputRecipe, Loss, Normalization, Optimizer,
    Origin, Rule, SampleOrder, Schedule, Shape, Shift, TestView, TrainingRange, WeightAverage, Workload,
};

use crate::screen::did_you_mean;
use crate::workload_file::definition::{Definition, LastBatch, Preprocessing, TestViews};
use crate::workload_file::{Mistake, Place, network};

/// Largest relative difference of an early loss from the reference's, as every built-in workload has it.
const LOSS_TOLERANCE: f64 = 1e-3;
const LARGEST_BATCH: u32 = 1 << 16;
const LARGEST_IMAGE: u32 = 256;

pub(crate) fn workload(definition: &Definition) -> Result<Workload, Mistake> {
    let root = Place::default();
    let name = name(&root.field("name"), &definition.name)?;
    let title = line(&root.field("title"), &definition.title, 100)?;
    let description = line(&root.field("description"), &definition.description, 1000)?;
    let set = data_set(&root.field("data_set"), &definition.data_set.0)?;
    check_samples(&root, definition, set)?;
    let (input, shape) = input(&root.field("preprocessing"), &definition.preprocessing, set)?;
    check_optimizer(&root.field("optimizer"), &definition.optimizer)?;
    check_loss(&root.field("loss"), definition.loss)?;
    check_average(&root.field("average"), definition.average)?;
    let model = network::model(name, set, shape, &definition.layers)?;
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
        order: if definition.shuffle { SampleOrder::Shuffled } else { SampleOrder::File },
        batching: match definition.last_batch {
            LastBatch::Short => Batching::ShortLast,
            LastBatch::Drop => Batching::DropLast,
            LastBatch::Wrap => Batching::Wrap,
        },
        published_epochs: definition.epochs,
        target_accuracy: definition.target_accuracy.unwrap_or(1.0),
        evaluations_per_epoch: definition.evaluations_per_epoch,
        loss_tolerance: LOSS_TOLERANCE,
    })
}

/// The engine's names live as long as the process. Each is kept once, however often its file is read.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text) {
        return known;
    }
    let text: &'static str = text.to_owned().leak();
    all.insert(text);
    text
}

fn name(place: &Place, name: &str) -> Result<&'static str, Mistake> {
    /// It is a part of the names of files.
    const LONGEST: usize = 40;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_plain) || name.len() > LONGEST {
        return Err(place.mistake(format!(
            "a name is of small letters, digits and hyphens, begins with a letter, and has at most {LONGEST} of them"
        )));
    }
    if engine::workload(name).is_some() {
        return Err(place.mistake(format!("a built-in workload is called `{name}`; a file's needs another name")));
    }
    Ok(kept(name))
}

/// A text that is shown in one line.
fn line(place: &Place, text: &str, longest: usize) -> Result<&'static str, Mistake> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > longest || !line.chars().all(results::is_plain) {
        return Err(place.mistake(format!("it must be at most {longest} visible characters")));
    }
    Ok(kept(&line))
}

fn data_set(place: &Place, name: &str) -> Result<&'static DataSetDefinition, Mistake> {
    engine::data_set(name).ok_or_else(|| {
        let known: Vec<&str> = engine::DATA_SETS.iter().map(|set| set.name.as_str()).collect();
        let close = did_you_mean(name, known.iter().copied());
        place.mistake(format!("there is no data set `{name}`; there are: {}{close}", known.join(", ")))
    })
}

fn check_samples(root: &Place, definition: &Definition, set: &DataSetDefinition) -> Checked {
    let all = set.train.samples;
    let mut trained = all;
    if let Some(TrainingRange { first, samples }) = definition.training_samples {
        let place = root.field("training_samples");
        whole(&place.field("first"), first, 0..=all - 1)?;
        whole(&place.field("samples"), samples, 1..=all - first)?;
        trained = samples;
    }
    whole(&root.field("batch_size"), definition.batch_size, 1..=trained.min(LARGEST_BATCH))?;
    whole(&root.field("epochs"), definition.epochs, 1..=100_000)?;
    whole(&root.field("evaluations_per_epoch"), definition.evaluations_per_epoch, 1..=100)?;
    definition.target_accuracy.map_or(Ok(()), |target| share(&root.field("target_accuracy"), target))?;
    if definition.last_batch == LastBatch::Wrap && definition.shuffle {
        return Err(root
            .field("last_batch")
            .mistake("`wrap` is for the order of the file: it needs `shuffle = false`"));
    }
    let place = root.field("early_stopping");
    let Some(EarlyStopping { threshold, .. }) = definition.early_stopping else { return Ok(()) };
    positive(&place.field("threshold"), threshold)?;
    if trained == all {
        return Err(place.mistake("nothing is held out by which to stop: `training_samples` must leave some out"));
    }
    Ok(())
}

/// What happens to a sample's bytes, and the shape that comes of it.
fn input(
    place: &Place,
    preprocessing: &Preprocessing,
    set: &DataSetDefinition,
) -> Result<(InputRecipe, Shape), Mistake> {
    let &Preprocessing { normalization, image_size, edge, flip, shift, brightness, contrast, .. } = preprocessing;
    if matches!(set.origin, Origin::Stories(_)) {
        if *preprocessing != Preprocessing::default() {
            return Err(
                place.mistake(format!("the samples of {} are words, and stay the numbers that they are", set.name))
            );
        }
        return Ok((InputRecipe::scaled(1.0), Shape::vector(set.train.features())));
    }
    let divisor = preprocessing.divisor.unwrap_or(255.0);
    positive(&place.field("divisor"), divisor)?;
    image_size.map_or(Ok(()), |size| whole(&place.field("image_size"), size, 1..=LARGEST_IMAGE))?;
    let image = Shape::new(set.train.height, set.train.width, set.train.channels);
    let shape = image_size.map_or(image, |size| Shape { height: size, width: size, ..image });
    check_normalization(&place.field("normalization"), normalization, image, shape)?;
    match shift {
        Shift::None => {}
        Shift::Pixels(pixels) => whole(&place.field("shift").field("pixels"), pixels, 0..=LARGEST_IMAGE)?,
        Shift::Share(of_side) => share(&place.field("shift").field("share"), of_side)?,
    }
    not_negative(&place.field("brightness"), brightness)?;
    if let Some((low, high)) = contrast {
        let place = place.field("contrast");
        positive(&place.item(0), low)?;
        positive(&place.item(1), high)?;
        if low > high {
            return Err(place.mistake("the lower factor comes first"));
        }
    }
    let changes_light = [("brightness", brightness != 0.0), ("contrast", contrast.is_some())];
    if let Some((field, _)) = changes_light.into_iter().find(|(_, is_set)| *is_set)
        && normalization != Normalization::EachImage
    {
        return Err(place.field(field).mistake("it needs `normalization = \"each_image\"`, which computes it"));
    }
    let augmentation = Augmentation { flip, shift, brightness, contrast };
    let test_views = match preprocessing.test_views {
        TestViews::Plain => TestView::PLAIN,
        TestViews::MirroredAndMoved if flip != Flip::Never || shift != Shift::None => TestView::MIRRORED_AND_MOVED,
        TestViews::MirroredAndMoved => {
            let text = "a network that was trained without `flip` and `shift` is tested without them";
            return Err(place.field("test_views").mistake(text));
        }
    };
    Ok((InputRecipe { divisor, normalization, edge, augmentation, test_views }, shape))
}

fn check_normalization(place: &Place, normalization: Normalization, image: Shape, seen: Shape) -> Checked {
    match normalization {
        Normalization::None | Normalization::MeanImage | Normalization::EachImage => Ok(()),
        Normalization::Channels { mean, deviation } => {
            let place = place.field("channels");
            let numbers = |field, values: [f32; 3], check: fn(&Place, f32) -> Checked| {
                (0..).zip(values).try_for_each(|(number, value)| check(&place.field(field).item(number), value))
            };
            numbers("mean", mean, finite)?;
            numbers("deviation", deviation, positive)
        }
        Normalization::WholeSet if seen.features() < image.features() => {
            Err(place.mistake("`whole_set` is the mean of whole images, and `image_size` leaves a part of them out"))
        }
        Normalization::WholeSet => Ok(()),
        Normalization::LocalContrast if seen.channels != 3 || seen != image => {
            Err(place.mistake("`local_contrast` is for whole images in colour"))
        }
        Normalization::LocalContrast => Ok(()),
    }
}

fn check_optimizer(place: &Place, optimizer: &Optimizer) -> Checked {
    let Optimizer { learning_rate, weight_decay, largest_gradient, .. } = *optimizer;
    positive(&place.field("learning_rate"), learning_rate)?;
    not_negative(&place.field("weight_decay"), weight_decay)?;
    largest_gradient.map_or(Ok(()), |largest| positive(&place.field("largest_gradient"), largest))?;
    check_rule(&place.field("rule"), optimizer.rule)?;
    check_schedule(&place.field("schedule"), &optimizer.schedule)
}

fn check_rule(place: &Place, rule: Rule) -> Checked {
    match rule {
        Rule::Sgd { momentum } => part(&place.field("sgd").field("momentum"), momentum),
        Rule::Nesterov { momentum } => part(&place.field("nesterov").field("momentum"), momentum),
        Rule::RmsProp { rho, epsilon } => {
            part(&place.field("rms_prop").field("rho"), rho)?;
            positive(&place.field("rms_prop").field("epsilon"), epsilon)
        }
        Rule::Adadelta { rho, epsilon } => {
            part(&place.field("adadelta").field("rho"), rho)?;
            positive(&place.field("adadelta").field("epsilon"), epsilon)
        }
        Rule::Adam { beta1, beta2, epsilon, decoupled: _ } => {
            let place = place.field("adam");
            part(&place.field("beta1"), beta1)?;
            part(&place.field("beta2"), beta2)?;
            positive(&place.field("epsilon"), epsilon)
        }
    }
}

fn check_schedule(place: &Place, schedule: &Schedule) -> Checked {
    match schedule {
        Schedule::Constant => Ok(()),
        Schedule::Inverse { gamma, power } => {
            not_negative(&place.field("inverse").field("gamma"), *gamma)?;
            not_negative(&place.field("inverse").field("power"), *power)
        }
        Schedule::Staircase { every, factor } => {
            let place = place.field("staircase");
            if *every == 0 {
                return Err(place.field("every").mistake("must be at least 1 update, and is 0"));
            }
            positive(&place.field("factor"), *factor)
        }
        Schedule::Drop { after: _, factor } => positive(&place.field("drop").field("factor"), *factor),
        Schedule::Linear { points } => {
            let place = place.field("linear").field("points");
            for (number, (at, factor)) in points.iter().enumerate() {
                share(&place.item(number).item(0), *at)?;
                not_negative(&place.item(number).item(1), *factor)?;
            }
            let is_sorted = points.is_sorted_by(|(one, _), (next, _)| one <= next);
            if points.is_empty() || !is_sorted {
                return Err(place.mistake("it must have points, in the order of their shares of the training"));
            }
            Ok(())
        }
        Schedule::Cosine { warm_up } => part(&place.field("cosine").field("warm_up"), *warm_up),
    }
}

fn check_loss(place: &Place, loss: Loss) -> Checked {
    part(&place.field("label_smoothing"), loss.label_smoothing)?;
    positive(&place.field("logits_scale"), loss.logits_scale)
}

fn check_average(place: &Place, average: Option<WeightAverage>) -> Checked {
    match average {
        None => Ok(()),
        Some(WeightAverage::Exponential { largest }) => part(&place.field("exponential").field("largest"), largest),
        Some(WeightAverage::Lookahead { every, decay }) => {
            let place = place.field("lookahead");
            if every == 0 {
                return Err(place.field("every").mistake("must be at least 1 update, and is 0"));
            }
            share(&place.field("decay"), decay)
        }
    }
}

pub(crate) type Checked = Result<(), Mistake>;

/// A number, as long as it was written.
pub(crate) trait Number: Copy + Display + Into<f64> {}

impl<T: Copy + Display + Into<f64>> Number for T {}

pub(crate) fn whole(place: &Place, value: u32, allowed: RangeInclusive<u32>) -> Checked {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(place.mistake(format!("must be from {} to {}, and is {value}", allowed.start(), allowed.end())))
}

pub(crate) fn positive(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| value > 0.0, "a number above 0")
}

pub(crate) fn not_negative(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| value >= 0.0, "a number from 0 on")
}

pub(crate) fn finite(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |_| true, "a finite number")
}

/// From 0 to 1.
pub(crate) fn share(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| (0.0..=1.0).contains(&value), "a share from 0 to 1")
}

/// From 0 to below 1: what stays of something in each step, or is taken away of it.
pub(crate) fn part(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| (0.0..1.0).contains(&value), "from 0 to below 1")
}

fn hold(place: &Place, value: impl Number, is_allowed: impl Fn(f64) -> bool, allowed: &str) -> Checked {
    let number: f64 = value.into();
    if number.is_finite() && is_allowed(number) {
        return Ok(());
    }
    Err(place.mistake(format!("must be {allowed}, and is {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_allowed_and_what_was_written() {
        let place = Place::default();
        let message = |checked: Checked| checked.unwrap_err().message;
        assert_eq!(message(whole(&place, 0, 1..=9)), "must be from 1 to 9, and is 0");
        assert_eq!(message(part(&place, 1.2_f32)), "must be from 0 to below 1, and is 1.2");
        assert_eq!(message(finite(&place, f64::NAN)), "must be a finite number, and is NaN");
        for number in [0.0, 0.5] {
            assert_eq!((part(&place, number), share(&place, number)), (Ok(()), Ok(())));
        }
        assert!(part(&place, 1.0).is_err() && share(&place, 1.0).is_ok() && positive(&place, 0.0).is_err());
    }
}
