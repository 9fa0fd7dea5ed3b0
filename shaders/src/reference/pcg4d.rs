//! Twin of `shared/pcg4d.wgsl`: the counter-based generator of everything random.

/// Hashes four lanes (index, stream, step, seed) to four; all arithmetic wraps.
///
/// Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020 (pcg4d).
pub fn pcg4d(lanes: [u32; 4]) -> [u32; 4] {
    let [mut x, mut y, mut z, mut w] = lanes.map(|v| v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    for round in 0..2 {
        x = x.wrapping_add(y.wrapping_mul(w));
        y = y.wrapping_add(z.wrapping_mul(x));
        z = z.wrapping_add(x.wrapping_mul(y));
        w = w.wrapping_add(y.wrapping_mul(z));
        if round == 0 {
            [x, y, z, w] = [x, y, z, w].map(|v| v ^ (v >> 16));
        }
    }
    [x, y, z, w]
}

/// Uniform in [0, 1), a multiple of 2⁻²⁴, exact in float32.
pub fn uniform(index: u32, stream: u32, step: u32, seed: u32) -> f32 {
    let [x, ..] = pcg4d([index, stream, step, seed]);
    let [high, middle, low, _] = x.to_be_bytes();
    // Twenty-four bits fit a float32 exactly, so no step of this rounds.
    f32::from(u16::from_be_bytes([high, middle])) / 65_536.0 + f32::from(low) / 16_777_216.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_reproduces_the_published_vectors() {
        let text = include_str!("../../../reference/golden/pcg4d_vectors.json");
        let vectors: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
        assert_eq!(vectors.len(), 8);
        for vector in vectors {
            let lanes = |name| -> [u32; 4] { serde_json::from_value(vector[name].clone()).unwrap() };
            assert_eq!(pcg4d(lanes("in")), lanes("out"), "{vector}");
            let [index, stream, step, seed] = lanes("in");
            assert_eq!(f64::from(uniform(index, stream, step, seed)), vector["uniform"].as_f64().unwrap(), "{vector}");
        }
    }
}
