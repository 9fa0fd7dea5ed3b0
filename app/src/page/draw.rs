//! Drawing board for trying the best network of the finished run, in the worker that trained it.

use leptos::ev::PointerEvent;
use leptos::html;
use leptos::prelude::*;
use view::chart::path;

use super::language::kept;
use crate::benchmark::Benchmark;
use crate::digit::{self, BOARD, PEN, PenPoint};
use crate::live::TrainedNetwork;
use crate::trained::{ClassifiedImage, TrainedNetworks};
use crate::{platform, t, text};

/// Lets visitors try the best network of the finished run while its worker is alive.
pub(super) fn draw_digit(benchmark: Benchmark) -> impl IntoView {
    let networks = benchmark.trained;
    move || networks.network.get().map(|network| try_network(networks, network))
}

/// Input of the network: a drawing, or the test image with an index.
#[derive(Default)]
struct Picture {
    strokes: Vec<Vec<PenPoint>>,
    example: Option<usize>,
}

impl Picture {
    fn image(&self, network: &TrainedNetwork) -> Option<Vec<u8>> {
        match self.example {
            Some(place) => network.examples.pixels(place).map(<[u8]>::to_vec),
            None => digit::image(&self.strokes),
        }
    }

    /// Returns the strokes as an SVG path.
    fn path(&self) -> String {
        // A zero-length line with round caps is a dot.
        let path = |stroke: &Vec<PenPoint>| path(stroke.iter().map(|&(x, y)| (x.into(), y.into()))) + "h0";
        self.strokes.iter().map(path).collect()
    }
}

/// URLs and labels of the test images.
type ExampleImages = StoredValue<Vec<(String, String)>>;

fn try_network(networks: TrainedNetworks, network: TrainedNetwork) -> impl IntoView {
    let digits = network.examples.are_digits();
    let name = text::workload_title(&network.workload);
    let classes: Vec<String> = (0..CLASSES).map(|class| network.examples.class(class)).collect();
    let addresses = network.examples.bitmaps().map(|bitmap| platform::data_address("image/bmp", &bitmap));
    let shown: ExampleImages = StoredValue::new(addresses.zip(network.examples.labels()).collect());
    let picture = kept(&format!("picture {}", network.workload), || {
        RwSignal::new(Picture { example: (!digits).then_some(0), ..Picture::default() })
    });
    let drawing = RwSignal::new(false);
    let image = Memo::new(move |_| picture.with(|picture| picture.image(&network)));
    // Reruns after each answer, because the worker ignores images while it is busy.
    Effect::new(move |_| {
        let is_answered = networks.answer.with(|answer| image.with(|image| is_answer_to(answer.as_ref(), image)));
        if let Some(image) = image.get().filter(|_| !is_answered) {
            networks.classify(image);
        }
    });
    let answer = Memo::new(move |_| networks.answer.get().filter(|_| image.with(Option::is_some)));
    let names = classes.clone();
    // Announced once per drawing, not while it changes.
    let sentence = move || {
        let answer = answer.get().filter(|of| !drawing.get() && image.with(|image| is_answer_to(Some(of), image)))?;
        let (class, probability) = most_probable(&answer)?;
        Some(t!(draw_answer, class = names.get(class)?, percent = text::whole_percent(probability)))
    };
    let clear = move |_| picture.set(Picture::default());
    view! {
        <section class="draw" aria-labelledby="draw-title">
            <h2 class="minor" id="draw-title">{if digits { t!(draw_title) } else { t!(draw_title_images) }}</h2>
            <p class="note">{t!(draw_network, network = name)}</p>
            <div class="draw-parts">
                {board(picture, drawing, shown, digits)}
                {bars(classes, answer)}
            </div>
            <div class="row">
                {digits.then(|| view! {
                    <button class="button small" type="button" on:click=clear>{t!(draw_clear)}</button>
                })}
                <p class="draw-answer" aria-live="polite">{sentence}</p>
            </div>
            {image_choice(picture, shown)}
        </section>
    }
}

/// Number of classes in every data set that has examples.
const CLASSES: u16 = 10;

fn is_answer_to(answer: Option<&ClassifiedImage>, image: &Option<Vec<u8>>) -> bool {
    answer.map(|answer| &answer.image) == image.as_ref()
}

fn most_probable(answer: &ClassifiedImage) -> Option<(usize, f64)> {
    answer.probabilities.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Drawing or selected test image. It is not a `<canvas>`, because some browsers add noise when scripts read one.
fn board(picture: RwSignal<Picture>, drawing: RwSignal<bool>, shown: ExampleImages, draws: bool) -> impl IntoView {
    let board = NodeRef::<html::Div>::new();
    let place = move |event: &PointerEvent| -> PenPoint {
        let side = board.get_untracked().map_or(1, |board| board.client_width().max(1));
        let place = |offset: i32| (offset as f32 * BOARD / side as f32).clamp(0.0, BOARD);
        (place(event.offset_x()), place(event.offset_y()))
    };
    let down = move |event: PointerEvent| {
        if !draws || !event.is_primary() || event.button() != 0 {
            return;
        }
        if let Some(board) = board.get_untracked() {
            // A stroke may leave the board and return. Capture fails if the pointer is already gone.
            drop(board.set_pointer_capture(event.pointer_id()));
        }
        drawing.set(true);
        picture.update(|picture| {
            picture.example = None;
            picture.strokes.push(vec![place(&event)]);
        });
    };
    let moved = move |event: PointerEvent| {
        if drawing.get_untracked() && event.is_primary() {
            picture
                .update(|picture| picture.strokes.iter_mut().last().into_iter().for_each(|of| of.push(place(&event))));
        }
    };
    let up = move |event: PointerEvent| {
        if event.is_primary() {
            drawing.set(false);
        }
    };
    let example = Memo::new(move |_| picture.with(|picture| picture.example));
    let is_empty = move || picture.with(|picture| picture.example.is_none() && picture.strokes.is_empty());
    let example = move || shown.with_value(|shown| shown.get(example.get()?).cloned());
    let label = move || example().map_or_else(|| t!(draw_here).to_owned(), |(_, label)| label);
    view! {
        <div
            class="draw-board"
            class:draws=draws
            role="img"
            aria-label=label
            node_ref=board
            on:pointerdown=down
            on:pointermove=moved
            on:pointerup=up
            on:pointercancel=up
        >
            {move || example().map(|(address, _)| view! { <img src=address alt="" /> })}
            <svg viewBox=format!("0 0 {BOARD} {BOARD}") aria-hidden="true">
                <path d=move || picture.with(Picture::path) stroke-width=PEN.to_string() />
            </svg>
            <span aria-hidden="true" hidden=move || !is_empty()>{t!(draw_here)}</span>
        </div>
    }
}

fn bars(classes: Vec<String>, answer: Memo<Option<ClassifiedImage>>) -> impl IntoView {
    let bar = |(class, name): (usize, String)| {
        let probability = move || answer.with(|answer| answer.as_ref()?.probabilities.get(class).copied());
        let best = move || answer.with(|answer| Some(most_probable(answer.as_ref()?)?.0));
        view! {
            <li class:best=move || best() == Some(class)>
                <span>{name}</span>
                <span class="draw-bar" aria-hidden="true">
                    <span style:width=move || format!("{:.1}%", 100.0 * probability().unwrap_or(0.0))></span>
                </span>
                <span class="number">{move || probability().map_or_else(|| "–".to_owned(), text::whole_percent)}</span>
            </li>
        }
    };
    view! { <ol aria-label=t!(draw_probabilities)>{classes.into_iter().enumerate().map(bar).collect_view()}</ol> }
}

/// Buttons that select a test image, usable without a pointer.
fn image_choice(picture: RwSignal<Picture>, shown: ExampleImages) -> impl IntoView {
    let button = |(place, (address, label)): (usize, (String, String))| {
        let is_chosen = move || picture.with(|picture| picture.example == Some(place));
        view! {
            <button
                type="button"
                aria-pressed=move || is_chosen().to_string()
                on:click=move |_| picture.set(Picture { example: Some(place), ..Picture::default() })
            >
                <img src=address alt=label width="28" height="28" />
            </button>
        }
    };
    view! {
        <div class="draw-choice" role="group" aria-label=t!(draw_examples)>
            {shown.get_value().into_iter().enumerate().map(button).collect_view()}
        </div>
    }
}
