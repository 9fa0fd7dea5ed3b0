//! Bounds of single values, each named by its path in the record.

use std::fmt;
use std::ops::RangeInclusive;

const NAME_CHARACTERS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) field: String,
}

pub(crate) type Checked = Result<(), Refusal>;

/// Path of a value, such as `workloads[0].settings.batch_size`. Converted to text only for a refusal.
#[derive(Clone, Copy)]
pub(crate) enum FieldPath<'a> {
    Root,
    Field(&'a Self, &'static str),
    Item(&'a Self, usize),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(FieldPath::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl FieldPath<'static> {
    pub(crate) const ROOT: Self = Self::Root;
}

impl FieldPath<'_> {
    pub(crate) fn field(&self, name: &'static str) -> FieldPath<'_> {
        FieldPath::Field(self, name)
    }

    pub(crate) fn item(&self, index: usize) -> FieldPath<'_> {
        FieldPath::Item(self, index)
    }

    pub(crate) fn each<T>(&self, items: &[T], check: impl Fn(FieldPath<'_>, &T) -> Checked) -> Checked {
        items.iter().enumerate().try_for_each(|(i, item)| check(self.item(i), item))
    }

    pub(crate) fn refuse(&self, code: &'static str, message: impl Into<String>) -> Checked {
        Err(Refusal { code, message: message.into(), field: self.to_string() })
    }

    /// Checks that values agree. The path is the path of the wrong value.
    pub(crate) fn holds(&self, condition: bool, otherwise: &str) -> Checked {
        if condition { Ok(()) } else { self.refuse("inconsistent", otherwise) }
    }

    pub(crate) fn number(&self, value: f64, range: RangeInclusive<f64>) -> Checked {
        if !value.is_finite() {
            return self.refuse("not_finite", "The value is not a finite number.");
        }
        if range.contains(&value) {
            return Ok(());
        }
        self.refuse("out_of_range", format!("{value} is outside {} to {}.", range.start(), range.end()))
    }

    pub(crate) fn optional_number(&self, value: Option<f64>, range: RangeInclusive<f64>) -> Checked {
        value.map_or(Ok(()), |value| self.number(value, range))
    }

    pub(crate) fn finite(&self, value: f64) -> Checked {
        self.number(value, f64::MIN..=f64::MAX)
    }

    pub(crate) fn share(&self, value: f64) -> Checked {
        self.number(value, 0.0..=1.0)
    }

    pub(crate) fn whole(&self, value: u64, range: RangeInclusive<u64>) -> Checked {
        if range.contains(&value) {
            return Ok(());
        }
        self.refuse("out_of_range", format!("{value} is outside {} to {}.", range.start(), range.end()))
    }

    pub(crate) fn list(&self, length: usize, most: usize) -> Checked {
        if length <= most {
            return Ok(());
        }
        self.refuse("too_many", format!("The list has {length} items; at most {most} are allowed."))
    }

    /// Checks a text of at most `most` characters without control characters.
    pub(crate) fn text(&self, value: &str, most: usize) -> Checked {
        let length = value.chars().count();
        if length > most {
            return self.refuse("too_long", format!("The text has {length} characters; at most {most} are allowed."));
        }
        if value.chars().any(|c| !results::is_plain(c)) {
            return self.refuse("control_character", "The text contains control characters, which are not allowed.");
        }
        Ok(())
    }

    pub(crate) fn optional_text(&self, value: Option<&str>, most: usize) -> Checked {
        value.map_or(Ok(()), |value| self.text(value, most))
    }

    /// Checks a text that must not be blank.
    pub(crate) fn filled_text(&self, value: &str, most: usize) -> Checked {
        self.text(value, most)?;
        if value.trim().is_empty() {
            return self.refuse("empty", "The text must not be empty.");
        }
        Ok(())
    }

    pub(crate) fn name(&self, value: &str) -> Checked {
        let fits = (1..=NAME_CHARACTERS).contains(&value.len())
            && value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if fits {
            return Ok(());
        }
        self.refuse(
            "bad_name",
            format!("A name must have 1 to {NAME_CHARACTERS} characters: lowercase letters, digits and hyphens."),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(checked: Checked) -> Option<&'static str> {
        checked.err().map(|refusal| refusal.code)
    }

    #[test]
    fn accepts_every_script_and_refuses_deceptive_text() {
        let path = FieldPath::ROOT;
        for good in ["GeForce RTX 4090", "显卡", "Графика", "🚀", "", "Robert'); DROP TABLE runs;--", "<b>&amp;"]
        {
            assert_eq!(code(path.text(good, 40)), None, "{good}");
        }
        for bad in ["a\0b", "a\nb", "\u{1b}[31mred", "abc\u{202e}cba", "\u{2066}x", "a\u{2028}b", "\u{7f}"] {
            assert_eq!(code(path.text(bad, 40)), Some("control_character"), "{bad:?}");
        }
        assert_eq!(code(path.text("äöü", 3)), None);
        assert_eq!(code(path.text("äöüß", 3)), Some("too_long"));
    }

    #[test]
    fn names_have_small_letters_digits_and_hyphens() {
        let path = FieldPath::ROOT;
        assert_eq!(code(path.name("keras-mnist-mlp")), None);
        for bad in ["", "Keras", "a b", "a_b", "ä", "a;--", &"a".repeat(65)] {
            assert_eq!(code(path.name(bad)), Some("bad_name"), "{bad:?}");
        }
    }

    #[test]
    fn numbers_must_be_finite_and_inside() {
        let path = FieldPath::ROOT;
        assert_eq!(code(path.share(1.0)), None);
        assert_eq!(code(path.share(1.0 + f64::EPSILON)), Some("out_of_range"));
        assert_eq!(code(path.share(f64::NAN)), Some("not_finite"));
        assert_eq!(code(path.finite(f64::INFINITY)), Some("not_finite"));
    }
}
