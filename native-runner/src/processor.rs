//! What the processor of this machine calls itself.

use std::sync::OnceLock;

use sysinfo::{CpuRefreshKind, System};

/// More letters than any processor's name has; a virtual machine can say whatever it likes.
const LONGEST: usize = 100;

/// Its brand, such as `AMD EPYC 9B14`; `None` where the platform does not tell.
pub(crate) fn name() -> Option<String> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();

    NAME.get_or_init(|| {
        let mut system = System::new().ok()?;
        system.refresh_cpu_list(CpuRefreshKind::nothing());
        tidy(system.cpus().first()?.brand())
    })
    .clone()
}

/// Makers fill their names up with spaces.
fn tidy(brand: &str) -> Option<String> {
    let words: Vec<&str> =
        brand.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let name: String = words.join(" ").chars().take(LONGEST).collect();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line_or_none() {
        assert_eq!(tidy(" Intel(R)  Core(TM) i7 \u{0}").as_deref(), Some("Intel(R) Core(TM) i7"));
        assert_eq!(tidy("  "), None);
        assert_eq!(tidy(&"x".repeat(500)).map(|name| name.len()), Some(LONGEST));
    }
}
