use std::sync::Arc;

use results::api::{StoredRun, Tier};
use view::card::{Card, Letters, SIZE, colour};

use super::testing::{flagged, named, of_networks, of_texts, ranked, run, said_to_be, too_short, without_figures};
use super::{Cards, card_of};

fn svg(run: &StoredRun) -> String {
    view::card::svg(&card_of(run), Letters::Any)
}

/// Returns the drawing that becomes the PNG.
fn png_svg(run: &StoredRun) -> String {
    view::card::svg(&card_of(run), Letters::OfOurFont)
}

fn numbers(svg: &str, attribute: &str) -> Vec<f32> {
    let begin = format!(" {attribute}=\"");
    let parts = svg.split(&begin).skip(1);
    parts.map(|part| part.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_card_says_score_rank_device_figures_and_tier() {
    let picture = view::card::svg(&ranked(&run()), Letters::Any);
    let score = results::score_digits(engine::score(&run().record).unwrap().value);
    for part in [
        &format!(">{score}<"),
        ">GFLOP/s<",
        ">Faster than 73 %<",
        ">of 214 devices<",
        ">NVIDIA GeForce RTX 4090<",
        ">Native: native-runner 0.1.0 on Linux · Vulkan · f32<",
        ">MNIST, multilayer perceptron (Keras)<",
        ">MNIST, LeNet (Caffe)<",
        ">98.41 %<",
        ">3.618 s<",
        ">to 97 %<",
        ">98.0 %<",
        ">sustained<",
        ">proven<",
        ">2027-01-15<",
        colour(Tier::Proven),
    ] {
        assert!(picture.contains(part), "{part} is missing in {picture}");
    }
    for hidden in ["keras-mnist-mlp", "caffe-mnist", &run().run_id] {
        assert!(!picture.contains(hidden), "{hidden} is in {picture}");
    }
    assert!(!svg(&run()).contains("Faster than"));
}

#[test]
fn who_says_which_device_it_is_stays_apart() {
    let claimed = svg(&said_to_be("RTX 3090"));
    assert!(claimed.contains(">Said to be<") && claimed.contains("Reported by the browser: NVIDIA, ampere"));
    let contradicted = svg(&said_to_be("Radeon RX 7900 XTX"));
    assert!(!contradicted.contains(">Said to be<") && contradicted.contains("contradicts the browser"));
    let mut both = run();
    both.record.device.claimed_name = Some("my old card".to_owned());
    assert!(svg(&both).contains("Its owner calls it “my old card”"));
    let mut software = run();
    software.record.device.adapter.software = true;
    assert!(svg(&software).contains("A software adapter: shown, never ranked"));
}

#[test]
fn nothing_of_a_name_is_markup_or_leaves_the_card() {
    for name in
        ["</text><script>\"&'", "]]>\u{0}\u{202e}\u{fffe}", &"W".repeat(3000), &"显".repeat(3000), &"ﷺ".repeat(300)]
    {
        let run = named(name);
        let picture = svg(&run);
        assert!(!picture.contains("<script") && !picture.contains('\u{202e}'), "{picture}");
        assert!(picture.len() < 20_000, "{}", picture.len());
        let drawn = png_svg(&run);
        let right = numbers(&drawn, "textLength").into_iter().fold(0.0, f32::max);
        assert!(right <= 1100.0, "{right}");
    }
}

#[test]
fn missing_glyphs_are_boxes_only_in_the_png() {
    let run = named("显卡 4090");
    assert!(svg(&run).contains(">显卡 4090<"));
    let picture = png_svg(&run);
    assert!(picture.contains(">□□ 4090<") && picture.contains("Some letters are not in"), "{picture}");
    assert!(png_svg(&named("بطاقة رسوميات")).contains(">A device with a name in other letters<"));
    assert!(!png_svg(&self::run()).contains("Some letters are not in"));
}

#[test]
fn more_networks_than_fit_are_counted() {
    let all = svg(&of_networks(16));
    assert!(all.contains(">CIFAR-10 to 94 % (airbench94)<") && !all.contains(" more<"), "{all}");
    let mut many = of_networks(16);
    let again = many.record.workloads.clone();
    many.record.workloads.extend(again);
    assert!(svg(&many).contains(">and 17 more<"));
}

#[test]
fn loss_of_a_text_is_shown_with_its_bits() {
    let picture = svg(&of_texts());
    for part in [">1.883<", ">loss (2.717 bits)<", ">to loss 1.9<"] {
        assert!(picture.contains(part), "{part} is missing in {picture}");
    }
    let description = card_of(&of_texts()).description();
    assert!(description.contains(", loss 1.883 (2.717 bits per character), loss 1.9 after 3.618 s"), "{description}");
}

#[test]
fn what_failed_says_so() {
    let failed = svg(&without_figures());
    assert!(failed.contains(">It disagreed with the reference.<") && failed.contains(">It was cancelled.<"));
    assert!(svg(&of_networks(8)).contains(">diverged at step 12,345<"));
    let short = svg(&too_short());
    assert!(short.contains(">It was too short to measure.<") && !short.contains("samples/s"), "{short}");
    let flagged = svg(&flagged());
    assert!(flagged.contains(">flagged<") && flagged.contains(">keras-mnist-mlp: recomputed from step 120 to 140"));
    assert!(flagged.contains(colour(Tier::Flagged)));
    let mut verifying = run();
    verifying.being_verified = true;
    assert!(svg(&verifying).contains(">proven, being verified<"));
    let mut nothing = run();
    nothing.record.workloads.clear();
    assert!(svg(&nothing).contains("This run has no networks."));
}

#[test]
fn the_description_has_the_figures_in_words() {
    let description = ranked(&run()).description();
    assert!(description.starts_with("Gradmark "), "{description}");
    for part in [
        " GFLOP/s. Faster than 73 % of 214 devices. MNIST, multilayer perceptron (Keras): ",
        " samples/s ± ",
        ", 97 % after 3.618 s; MNIST, LeNet (Caffe): ",
    ] {
        assert!(description.contains(part), "{part} is missing in {description}");
    }
    assert!(description.contains(". proven. Native: native-runner"), "{description}");
}

/// Every kind of card is a picture of the right size. `GRADMARK_CARDS=DIR` saves them for manual inspection.
#[tokio::test]
async fn every_kind_of_card_becomes_a_picture() {
    let cards = Cards::default();
    let folder = std::env::var_os("GRADMARK_CARDS");
    let long = named(&"AMD Radeon RX 7900 XTX (RADV NAVI31) ".repeat(4));
    let numbers = [("one", 1), ("three", 3), ("eight", 8), ("nine", 9), ("sixteen", 16)];
    let names = [("short", "M4"), ("chinese", "显卡 4090"), ("arabic", "بطاقة رسوميات"), ("emoji", "🚀 My GPU 🚀")];
    let claims = [("said", "RTX 3090"), ("contradicted", "Radeon RX 7900 XTX")];
    let mut runs = vec![("two", run()), ("long", long.clone()), ("flagged", flagged()), ("failed", without_figures())];
    runs.extend([("too-short", too_short()), ("texts", of_texts())]);
    runs.extend(numbers.map(|(name, number)| (name, of_networks(number))));
    runs.extend(names.map(|(name, device)| (name, named(device))));
    runs.extend(claims.map(|(name, claim)| (name, said_to_be(claim))));
    let all_ranked = [("ranked", run()), ("ranked-claim", said_to_be("RTX 3090")), ("ranked-long", long)];
    let all_ranked = all_ranked.iter().map(|(name, run)| (name, ranked(run)));
    let mut different = std::collections::HashSet::new();
    for (name, card) in runs.iter().map(|(name, run)| (name, card_of(run))).chain(all_ranked) {
        let png = cards.png(&card).await.unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((size(16), size(20)), SIZE, "{name}");
        if let Some(folder) = &folder {
            let file = std::path::Path::new(folder).join(name);
            std::fs::write(file.with_extension("png"), &png).unwrap();
            std::fs::write(file.with_extension("svg"), view::card::svg(&card, Letters::Any)).unwrap();
        }
        assert!(different.insert(png), "{name} looks like another one");
    }
}

#[tokio::test]
async fn overload_refuses_new_cards_and_still_serves_cached_ones() {
    let cards = Cards::default();
    let known = card_of(&run());
    let first = cards.png(&known).await.unwrap();
    let _all = cards.0.waiting.acquire_many(32).await.unwrap();
    let other = Card { date: "2027-01-16".to_owned(), ..known.clone() };
    assert_eq!(cards.png(&other).await.unwrap_err().code(), "busy");
    assert_eq!(cards.png(&known).await.unwrap().as_ptr(), first.as_ptr(), "the very same bytes");
}

#[tokio::test]
#[ignore = "waits for 5 s"]
async fn waiting_for_a_place_has_an_end() {
    let cards = Cards::default();
    let _both = Arc::clone(&cards.0.places).acquire_many_owned(2).await.unwrap();
    assert_eq!(cards.png(&card_of(&run())).await.unwrap_err().code(), "busy");
}
