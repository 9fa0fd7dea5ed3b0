//! What a suite measures, as far as sizes alone tell: before any device is open.

use results::kernels::Suite;

use super::peaks;
use super::products;

/// What there is to measure, and how much memory that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Peaks of the device, which have no budget.
    pub peaks: usize,
    /// Entries that some kernel can do and that fit into the budget; those that take too long only the device tells.
    pub entries: usize,
    /// Every size, each once, in the order in which they are measured.
    pub sizes: Vec<String>,
    /// The most that the buffers of anything that is measured take together.
    pub most_bytes: u64,
}

/// What `suite` measures where an entry may use so many bytes.
pub fn outline(suite: Suite, budget_bytes: u64) -> Outline {
    let products = products(suite, false);
    let mut sizes: Vec<String> = products.iter().map(|product| product.size()).collect();
    sizes.dedup();
    let possible = products.iter().filter(|product| product.impossible().is_none());
    let bytes = possible.map(|product| 4 * product.buffers().iter().sum::<u64>());
    let fitting: Vec<u64> = bytes.filter(|bytes| *bytes <= budget_bytes).collect();
    let kinds = peaks::wanted(&[suite]);
    let of_peaks = kinds.iter().map(|kind| kind.most_bytes());
    Outline {
        peaks: kinds.len(),
        entries: fitting.len(),
        sizes,
        most_bytes: of_peaks.chain(fitting.iter().copied()).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_memory_leaves_out_what_is_larger_and_names_every_size() {
        let (all, some) = (outline(Suite::Gemm, u64::MAX), outline(Suite::Gemm, 100 << 20));
        assert_eq!((all.entries, all.sizes.len(), all.peaks), (3 * 13, 13, 1));
        assert_eq!(some.sizes, all.sizes);
        assert!(some.entries < all.entries && some.entries > 0, "{} of {}", some.entries, all.entries);
        assert!(some.most_bytes <= 100 << 20 && all.most_bytes > 100 << 20);
    }

    #[test]
    fn peaks_alone_have_no_entries() {
        let memory = outline(Suite::Memory, 1);
        assert_eq!((memory.entries, memory.peaks, memory.sizes.len()), (0, 2, 0));
        assert!(memory.most_bytes >= 2 * (512 << 20), "copying needs two arrays");
    }
}
