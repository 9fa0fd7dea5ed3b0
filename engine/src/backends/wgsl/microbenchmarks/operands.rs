//! Numbers of which any one can be had without the others, so that a few results can be checked by plain sums.

use shaders::reference::pcg4d::uniform;

const SEED: u32 = 7;

/// A row-major matrix of numbers in -1..1 that is zero from column `known` on, where a layout has padding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Stream of random numbers: another for each operand.
    pub(super) stream: u32,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) known: u32,
}

impl Operand {
    /// A matrix without padding.
    pub(super) fn full(stream: u32, rows: u32, columns: u32) -> Self {
        Self { stream, rows, columns, known: columns }
    }

    pub(super) fn elements(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    pub(super) fn at(&self, row: u32, column: u32) -> f32 {
        if column >= self.known {
            return 0.0;
        }
        // Operands of more than four billion numbers fit into no buffer.
        let index = row.wrapping_mul(self.columns).wrapping_add(column);
        2.0 * uniform(index, self.stream, 0, SEED) - 1.0
    }

    /// All of it.
    pub(super) fn numbers(&self) -> Vec<f32> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.at(row, column))).collect()
    }
}

/// A sum of products in double precision, and the sum of their sizes, by which rounding is judged.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_zero_and_everything_else_is_not() {
        let operand = Operand { stream: 1, rows: 3, columns: 4, known: 3 };
        let numbers = operand.numbers();
        assert_eq!(numbers.len() as u64, operand.elements());
        for (i, &number) in (0u32..).zip(&numbers) {
            assert_eq!(number == 0.0, i % 4 == 3, "{i}");
            assert_eq!(number, operand.at(i / 4, i % 4));
        }
        assert_ne!(numbers, Operand { stream: 2, ..operand }.numbers());
    }
}
