/// How a list of numbers in our order lies in a tensor of Burn: with its axes in another order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrangement {
    /// Sides of ours, row-major.
    sides: Vec<usize>,
    /// Axis number `i` of Burn's tensor is axis `axes[i]` of ours.
    axes: Vec<usize>,
}

impl Arrangement {
    pub(super) fn new(sides: Vec<usize>, axes: &[usize]) -> Self {
        assert_eq!(sides.len(), axes.len(), "every axis has its place");
        Self { sides, axes: axes.to_vec() }
    }

    /// Nothing moves.
    pub(super) fn plain(elements: usize) -> Self {
        Self::new(vec![elements], &[0])
    }

    /// From our order to Burn's.
    pub(super) fn store(&self, ours: Vec<f32>) -> Vec<f32> {
        if self.is_plain() {
            return ours;
        }
        self.places().into_iter().map(|place| ours[place]).collect()
    }

    /// From Burn's order to ours.
    pub(super) fn load(&self, stored: Vec<f32>) -> Vec<f32> {
        if self.is_plain() {
            return stored;
        }
        let mut ours = vec![0.0; stored.len()];
        for (place, value) in self.places().into_iter().zip(stored) {
            ours[place] = value;
        }
        ours
    }

    fn is_plain(&self) -> bool {
        self.axes.is_sorted()
    }

    /// Our place of each of Burn's elements.
    fn places(&self) -> Vec<usize> {
        let stride = |axis: usize| self.sides[axis + 1..].iter().product::<usize>();
        self.axes.iter().fold(vec![0], |places, &axis| {
            let steps = |place: usize| (0..self.sides[axis]).map(move |index| place + index * stride(axis));
            places.into_iter().flat_map(steps).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_is_stored_transposed_comes_back_as_it_was() {
        let transposed = Arrangement::new(vec![2, 3], &[1, 0]);
        let matrix = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let stored = transposed.store(matrix.clone());
        assert_eq!(stored, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(transposed.load(stored), matrix);
    }

    #[test]
    fn a_kernel_is_stored_with_its_filters_first() {
        let kernel = Arrangement::new(vec![1, 2, 2, 2], &[3, 2, 0, 1]);
        // Rows, columns, inputs, filters; the numbers are row-major places.
        let ours: Vec<f32> = (0u8..8).map(f32::from).collect();
        assert_eq!(kernel.store(ours), [0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0]);
    }
}
