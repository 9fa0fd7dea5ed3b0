//! Names as a reader sees them: what cannot be seen does not count, and neither does how letters are encoded.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_security::skeleton;

use super::driver_name;

/// Words that name a vendor, a family or nothing at all: with or without them it is the same device.
///
/// Apple is none of them, because NVIDIA has an A16 as well.
const IDLE_WORDS: [&str; 17] = [
    "amd",
    "arm",
    "ati",
    "corporation",
    "geforce",
    "gpu",
    "graphics",
    "inc",
    "instinct",
    "intel",
    "mesa",
    "nvidia",
    "qualcomm",
    "radeon",
    "samsung",
    "tesla",
    "turnip",
];

/// A name as text that can be shown: compatibility forms folded (NFKC), nothing invisible, single spaces.
///
/// Characters that turn the direction of writing, have no width or control terminals are gone, so that what is shown
/// cannot disturb what stands beside it.
pub fn displayed(name: &str) -> String {
    let visible: String = name
        .nfkc()
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
        .filter(|letter| !is_invisible(*letter))
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What shows nothing by itself: controls, formats, what has no meaning yet, and the fillers and selectors of Unicode's
/// `Default_Ignorable_Code_Point` that are letters or marks by their category.
fn is_invisible(letter: char) -> bool {
    let by_category = matches!(
        letter.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Surrogate
            | GeneralCategory::Unassigned
    );
    let ignorable = matches!(letter,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}');
    by_category || ignorable
}

/// What two names of the same device have in common: letters and digits in lower case, without trademark signs, without
/// what drivers add, and without words that make no difference. Empty where nothing is left.
pub fn comparable(name: &str) -> String {
    words(name).into_iter().filter(|word| !IDLE_WORDS.contains(&word.as_str())).collect()
}

/// What two names have in common that look the same: [`comparable`] with, for each word, the skeleton of Unicode Technical
/// Standard #39.
///
/// Case is folded as well, which the standard does not do, because names of GPUs are written in any case: `0`, `O` and
/// `o` are one, and so are `1`, `I`, `i` and `l`. The result is compared and never shown.
pub fn look(name: &str) -> String {
    static IDLE: LazyLock<HashSet<String>> = LazyLock::new(|| IDLE_WORDS.iter().map(|word| look_of(word)).collect());
    // Letters of other scripts first, as they are written: capitals look like other letters than small ones do.
    let latin: String = name.chars().map(latin_look).collect();
    words(&latin).iter().map(|word| look_of(word)).filter(|word| !IDLE.contains(word)).collect()
}

/// The words of a name, letters and digits in lower case.
fn words(name: &str) -> Vec<String> {
    // NFKC would turn ™ into the letters TM.
    let lower = displayed(&name.replace(['™', '®', '©', '℠'], " ")).to_lowercase();
    let core = driver_name::core(&lower);
    let words = core.split(|letter: char| letter.is_whitespace() || "-_/,:;|()[]".contains(letter));
    let spelled = |word: &str| -> String { word.chars().filter(|letter| letter.is_alphanumeric()).collect() };
    words.map(spelled).filter(|word| !is_number_of_cores(word)).collect()
}

/// Arm's drivers may end a name with the number of its cores, such as `MC11`.
fn is_number_of_cores(word: &str) -> bool {
    word.strip_prefix("mc").is_some_and(|count| !count.is_empty() && count.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The Latin letters that a letter looks like; itself where it is one already, so that `(TM)` and `1` stay what they are.
fn latin_look(letter: char) -> String {
    if letter.is_ascii() { letter.to_string() } else { skeleton(letter.encode_utf8(&mut [0; 4])).collect() }
}

/// Twice, because a letter in lower case may look like another one again.
fn look_of(word: &str) -> String {
    let folded = |text: &str| -> String { skeleton(text).flat_map(char::to_lowercase).collect() };
    folded(&folded(word)).replace('i', "l")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_not_shown() {
        assert_eq!(displayed(" GeForce\u{200b} RTX\u{202e}\t40\u{ad}90\u{0}\n"), "GeForce RTX 4090");
        assert_eq!(displayed("\u{3164}\u{2066}\u{feff}"), "");
        assert_eq!(displayed("Ｇｅ\u{fe0f}Force ４０９０"), "GeForce 4090");
    }

    #[test]
    fn trademarks_case_and_vendors_make_no_difference() {
        let name = comparable("NVIDIA GeForce RTX 4090");
        assert_eq!(name, "rtx4090");
        for other in
            ["GeForce® RTX™ 4090", "nvidia  GEFORCE(R) rtx(TM)-4090", "RTX4090", "NVIDIA Corporation RTX 4090 GPU"]
        {
            assert_eq!(comparable(other), name, "{other}");
        }
    }

    #[test]
    fn letters_of_other_scripts_look_alike_and_are_not_the_same() {
        // Cyrillic Ie, Te and Er; the Greek capital Rho.
        for forged in ["G\u{435}Force RTX 4090", "GeForce R\u{422}X 4090", "GeFo\u{433}ce \u{3a1}TX 4090"] {
            assert_ne!(comparable(forged), comparable("RTX 4090"), "{forged}");
        }
        assert_eq!(look("G\u{435}Force RTX 4090"), look("RTX 4090"));
        assert_eq!(look("GeForce R\u{422}X 4090"), look("RTX 4090"));
        assert_ne!(look("GeForce RTX 4080"), look("RTX 4090"));
    }

    #[test]
    fn the_letter_o_looks_like_a_nought_and_is_none() {
        assert_ne!(comparable("RTX 4O90"), comparable("RTX 4090"));
        assert_eq!(look("RTX 4O90"), look("RTX 4090"));
        assert_eq!(look("rtx 4o9o"), look("RTX 4090"));
        assert_eq!(look("lntel lris Xe"), look("Intel Iris Xe"));
    }
}
