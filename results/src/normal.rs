/// Generator of roughly normal numbers with standard deviation 1, the same in every test: sums of twelve numbers from a
/// linear congruential generator (Knuth's constants).
pub(crate) struct Normal(pub(crate) u64);

impl Normal {
    pub(crate) fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f64 / f64::from(1 << 24)
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}
