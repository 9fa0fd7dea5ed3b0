//! Which matrix units of a device our kernels use.

use shaders::Matrices;

/// The shapes of matrices that an adapter multiplies, of those that wgpu lets kernels use.
pub(super) fn listed(adapter: &wgpu::Adapter) -> Vec<wgpu::CooperativeMatrixProperties> {
    let granted = adapter.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    if granted { adapter.cooperative_matrix_properties() } else { Vec::new() }
}

/// The largest of the shapes listed that the kernels have.
pub(super) fn chosen(listed: &[wgpu::CooperativeMatrixProperties]) -> Option<Matrices> {
    let fits = |matrices: &Matrices| {
        listed.iter().any(|shape| {
            let sides = [shape.m_size, shape.n_size, shape.k_size];
            matrices.side().is_some_and(|side| sides == [side; 3])
                && shape.ab_type == wgpu::CooperativeScalarType::F16
                && shape.cr_type == wgpu::CooperativeScalarType::F32
        })
    };
    [Matrices::Sixteen, Matrices::Eight].into_iter().find(fits)
}

/// Why none of the shapes `listed` is used.
pub(super) fn none_fits(listed: &[wgpu::CooperativeMatrixProperties]) -> String {
    let needed =
        "the kernels multiply cooperative matrices of 16 × 16 × 16 or 8 × 8 × 8 numbers of f16, with sums in f32";
    if cfg!(target_arch = "wasm32") {
        return format!("{needed}, which browsers do not offer; native-runner does where the device lists them");
    }
    let shape = |shape: &wgpu::CooperativeMatrixProperties| {
        let wgpu::CooperativeMatrixProperties { m_size, n_size, k_size, ab_type, cr_type, .. } = shape;
        format!("{m_size} × {n_size} × {k_size} of {ab_type:?} with sums in {cr_type:?}")
    };
    let listed: Vec<String> = listed.iter().map(shape).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ").to_lowercase() };
    format!("{needed}, and this device or its driver lists {listed}")
}

#[cfg(test)]
mod tests {
    use wgpu::CooperativeScalarType::{self as Scalar, F16, F32, I32};

    use super::*;

    fn shape(
        [m_size, n_size, k_size]: [u32; 3],
        ab_type: Scalar,
        cr_type: Scalar,
    ) -> wgpu::CooperativeMatrixProperties {
        wgpu::CooperativeMatrixProperties { m_size, n_size, k_size, ab_type, cr_type, saturating_accumulation: false }
    }

    #[test]
    fn the_largest_square_of_f16_with_sums_in_f32_is_taken() {
        let [eight, sixteen] = [8, 16].map(|side| shape([side; 3], F16, F32));
        assert_eq!(chosen(&[eight]), Some(Matrices::Eight));
        assert_eq!(chosen(&[shape([8; 3], F32, F32), eight, sixteen]), Some(Matrices::Sixteen));
    }

    #[test]
    fn other_shapes_and_other_sums_are_named_and_not_taken() {
        let others = [shape([16, 8, 16], F16, F32), shape([16; 3], F16, F16), shape([8; 3], I32, I32)];
        assert_eq!(chosen(&others), None);
        let reason = none_fits(&others);
        assert!(
            reason.contains("16 × 8 × 16 of f16 with sums in f32, 16 × 16 × 16 of f16 with sums in f16"),
            "{reason}"
        );
        assert!(none_fits(&[]).ends_with("lists none"));
    }
}
