//! Names as readers see them: invisible characters and the encoding of letters do not count.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_security::skeleton;

/// Words that distinguish no devices. Apple is not included, because NVIDIA has an A16 as well.
const IDLE_WORDS: &str = "amd arm ati corporation geforce gpu graphics inc instinct intel mesa nvidia qualcomm radeon \
     samsung tesla turnip";

/// Returns a name as displayable text: compatibility forms folded (NFKC), no invisible characters, single spaces.
///
/// Characters that change the writing direction, have no width or control terminals are removed, so that the text
/// cannot affect the text around it.
pub fn displayed(name: &str) -> String {
    let visible: String = name
        .nfkc()
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
        .filter(|letter| !is_invisible(*letter))
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true for controls, formats, unassigned characters, fillers and variation selectors.
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

/// Returns the lower-case letters and digits of a name, without trademark signs, drivers' additions and idle words.
pub fn comparable(name: &str) -> String {
    words(name).into_iter().filter(|word| !IDLE_WORDS.split(' ').any(|idle| idle == word)).collect()
}

/// Returns [`comparable`] with the skeleton of Unicode Technical Standard #39 for each word. Case is folded too,
/// because names are written in any case: `0`, `O` and `o` are equal, and so are `1`, `I`, `i` and `l`. Never
/// displayed.
pub fn look(name: &str) -> String {
    static IDLE: LazyLock<HashSet<String>> = LazyLock::new(|| IDLE_WORDS.split(' ').map(look_of).collect());
    // Before lower-casing, because capitals and small letters of other scripts resemble different letters.
    // ASCII stays unchanged, so that `(TM)` and `1` are preserved.
    let latin_look = |letter: char| -> String {
        if letter.is_ascii() { letter.to_string() } else { skeleton(letter.encode_utf8(&mut [0; 4])).collect() }
    };
    let latin: String = name.chars().map(latin_look).collect();
    words(&latin).iter().map(|word| look_of(word)).filter(|word| !IDLE.contains(word)).collect()
}

fn words(name: &str) -> Vec<String> {
    // NFKC would turn ™ into the letters TM.
    let lower = displayed(&name.replace(['™', '®', '©', '℠'], " ")).to_lowercase();
    let core = core(&lower);
    let words = core.split(|letter: char| letter.is_whitespace() || "-_/,:;|()[]".contains(letter));
    let spelled = |word: &str| -> String { word.chars().filter(|letter| letter.is_alphanumeric()).collect() };
    // Arm's drivers may end a name with the number of cores, such as `MC11`.
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    words.map(spelled).filter(|word| !word.strip_prefix("mc").is_some_and(is_number)).collect()
}

/// Maps twice, because a lower-case letter may resemble another one again.
fn look_of(word: &str) -> String {
    let folded = |text: &str| -> String { skeleton(text).flat_map(char::to_lowercase).collect() };
    folded(&folded(word)).replace('i', "l")
}

/// Separators after the GPU's name.
const BEGINNINGS: [&str; 6] = ["/pcie", "/sse2", " direct3d", ") on vulkan", " opengl engine", " vs_"];

/// Returns the part of `name`, in lower case, that names the GPU.
fn core(name: &str) -> String {
    let inner = angle(name).unwrap_or(name);
    let end = BEGINNINGS.iter().filter_map(|beginning| inner.find(beginning)).min().unwrap_or(inner.len());
    without_brackets(&inner[..end])
}

/// Returns the second part of `angle (vendor, gpu, version)`, without the text up to `vulkan 1.3.277 (` or
/// `… renderer:`.
fn angle(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("angle (")?;
    let parts: Vec<&str> = inner.split(", ").collect();
    // Old versions contain only the GPU.
    let gpu = parts.get(1).copied().unwrap_or(parts[0]).trim_end_matches(')');
    let gpu = gpu.split_once("renderer: ").map_or(gpu, |(_, gpu)| gpu);
    Some(if gpu.starts_with("vulkan ") { gpu.split_once(" (").map_or(gpu, |(_, gpu)| gpu) } else { gpu })
}

/// Removes brackets and their content: trademarks, PCI numbers, code names, versions. An unclosed bracket stays.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '(' => {
                depth += 1;
                kept.push(' ');
            }
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
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
}
