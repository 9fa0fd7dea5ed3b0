//! Random matrices, and plain sums of their products.

use shaders::reference::pcg4d::uniform;

const SEED: u32 = 7;

/// Row-major matrix of random numbers in -1..1, or in another range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Stream of random numbers, different for each operand.
    pub(super) stream: u32,
    pub(super) rows: u32,
    pub(super) columns: u32,
    /// Number of columns that are not padding of zeros.
    pub(super) known: u32,
    /// Factor of the numbers; 0 for a matrix of zeros.
    pub(super) limit: f32,
    /// True for random numbers in 0..1 instead.
    pub(super) unsigned: bool,
}

impl Operand {
    /// Creates a matrix without padding.
    pub(super) fn full(stream: u32, rows: u32, columns: u32) -> Self {
        Self { stream, rows, columns, known: columns, limit: 1.0, unsigned: false }
    }

    pub(super) fn zeros(rows: u32, columns: u32) -> Self {
        Self { limit: 0.0, ..Self::full(0, rows, columns) }
    }

    pub(super) fn elements(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    pub(super) fn at(&self, row: u32, column: u32) -> f32 {
        if column >= self.known {
            return 0.0;
        }
        // The index never wraps in practice: no buffer holds four billion numbers.
        let index = row.wrapping_mul(self.columns).wrapping_add(column);
        let number = 2.0 * uniform(index, self.stream, 0, SEED) - 1.0;
        self.limit * if self.unsigned { number.abs() } else { number }
    }

    pub(super) fn numbers(&self) -> Vec<f32> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.at(row, column))).collect()
    }
}

/// Sum of products in double precision, with the sum of their magnitudes, which bounds the rounding error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlainSum {
    pub(super) value: f64,
    pub(super) magnitude: f64,
}

impl PlainSum {
    pub(super) fn of(products: impl Iterator<Item = (f32, f32)>) -> Self {
        products.fold(Self::default(), |sum, (a, b)| {
            let product = f64::from(a) * f64::from(b);
            Self { value: sum.value + product, magnitude: sum.magnitude + product.abs() }
        })
    }
}
