//! Bounds of single values, each named by its path in the record.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

const NAME_CHARACTERS: usize = 64;
const HASH_DIGITS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) field: String,
}

pub(crate) type Checked = Result<(), Refusal>;

/// The values that a field may have. An absent value is always allowed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Allowed {
    /// A text of at most this many characters.
    Text(usize),
    /// A text that is not blank.
    Filled(usize),
    Name,
    Sha256,
    Number(f64, f64),
    /// A number that is not infinite, as a number in f32 may be.
    Finite,
    Whole(u64, u64),
    /// A list of at most this many items.
    List(usize),
}

/// A path, names of fields below it, and their allowed values. In a path, `[]` stands for each item of a list.
pub(super) type FieldRule = (&'static str, &'static [&'static str], Allowed);

/// Checks each value of a document that has a row in the table.
pub(super) fn check_values(document: &impl Serialize, table: &[FieldRule]) -> Checked {
    let document = serde_json::to_value(document).expect("a document that was JSON can be JSON again");
    table.iter().try_for_each(|(path, fields, allowed)| {
        FieldPath::ROOT.visit(path, &document, &|path, inner| {
            fields.iter().try_for_each(|field| path.visit(field, inner, &|path, value| path.value(value, *allowed)))
        })
    })
}

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

    /// Calls `check` for each value at a relative path below this value.
    fn visit(&self, path: &'static str, value: &Value, check: &dyn Fn(&FieldPath<'_>, &Value) -> Checked) -> Checked {
        if path.is_empty() {
            return check(self, value);
        }
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        let list = name.strip_suffix("[]");
        let name = list.unwrap_or(name);
        let (field, Some(inner)) = (self.field(name), value.get(name)) else { return Ok(()) };
        if list.is_none() {
            return field.visit(rest, inner, check);
        }
        field.each(inner.as_array().map_or(&[][..], Vec::as_slice), |path, item| path.visit(rest, item, check))
    }

    fn value(&self, value: &Value, allowed: Allowed) -> Checked {
        match (allowed, value) {
            // JSON has no infinity.
            (Allowed::Finite, Value::Null) => self.number(f64::INFINITY, f64::MIN..=f64::MAX),
            (_, Value::Null) => Ok(()),
            (Allowed::Text(most), Value::String(text)) => self.text(text, most),
            (Allowed::Filled(most), Value::String(text)) => self.filled_text(text, most),
            (Allowed::Name, Value::String(text)) => self.name(text),
            (Allowed::Sha256, Value::String(text)) => self.sha256(text),
            (Allowed::Number(least, most), Value::Number(number)) => {
                self.number(number.as_f64().unwrap_or(f64::NAN), least..=most)
            }
            (Allowed::Finite, Value::Number(_)) => Ok(()),
            (Allowed::Whole(least, most), Value::Number(number)) => {
                self.within(number.as_u64().unwrap_or(u64::MAX), least..=most)
            }
            (Allowed::List(most), Value::Array(items)) => self.list(items.len(), most),
            (allowed, value) => panic!("{self} cannot be {allowed:?}, because it is {value}"),
        }
    }

    pub(crate) fn refuse(&self, code: &'static str, message: impl Into<String>) -> Checked {
        Err(Refusal { code, message: message.into(), field: self.to_string() })
    }

    /// Refuses this value unless the condition holds.
    pub(crate) fn require(&self, condition: bool, code: &'static str, otherwise: impl fmt::Display) -> Checked {
        if condition { Ok(()) } else { self.refuse(code, otherwise.to_string()) }
    }

    /// Checks that values agree. The path is the path of the wrong value.
    pub(crate) fn holds(&self, condition: bool, otherwise: &str) -> Checked {
        self.require(condition, "inconsistent", otherwise)
    }

    pub(crate) fn number(&self, value: f64, range: RangeInclusive<f64>) -> Checked {
        self.require(value.is_finite(), "not_finite", "The value is not a finite number.")?;
        self.within(value, range)
    }

    pub(crate) fn within<T: PartialOrd + fmt::Display>(&self, value: T, range: RangeInclusive<T>) -> Checked {
        let (least, most) = (range.start(), range.end());
        self.require(range.contains(&value), "out_of_range", format_args!("{value} is outside {least} to {most}."))
    }

    pub(crate) fn list(&self, length: usize, most: usize) -> Checked {
        let otherwise = format_args!("The list has {length} items; at most {most} are allowed.");
        self.require(length <= most, "too_many", otherwise)
    }

    /// Checks a text of at most `most` characters without control characters.
    fn text(&self, value: &str, most: usize) -> Checked {
        let length = value.chars().count();
        let otherwise = format_args!("The text has {length} characters; at most {most} are allowed.");
        self.require(length <= most, "too_long", otherwise)?;
        let otherwise = "The text contains control characters, which are not allowed.";
        self.require(value.chars().all(results::is_plain), "control_character", otherwise)
    }

    /// Checks a text that must not be blank.
    pub(crate) fn filled_text(&self, value: &str, most: usize) -> Checked {
        self.text(value, most)?;
        self.require(!value.trim().is_empty(), "empty", "The text must not be empty.")
    }

    pub(crate) fn name(&self, value: &str) -> Checked {
        let fits = (1..=NAME_CHARACTERS).contains(&value.len())
            && value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let otherwise =
            format_args!("A name must have 1 to {NAME_CHARACTERS} characters: lowercase letters, digits and hyphens.");
        self.require(fits, "bad_name", otherwise)
    }

    fn sha256(&self, value: &str) -> Checked {
        let fits = value.len() == HASH_DIGITS && value.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
        self.require(fits, "bad_hash", "A SHA-256 must have 64 lowercase hexadecimal digits.")
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
        assert_eq!(code(path.number(1.0, 0.0..=1.0)), None);
        assert_eq!(code(path.number(1.0 + f64::EPSILON, 0.0..=1.0)), Some("out_of_range"));
        assert_eq!(code(path.number(f64::NAN, 0.0..=1.0)), Some("not_finite"));
    }
}
