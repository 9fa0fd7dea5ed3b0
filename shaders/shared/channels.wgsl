// Functions for loops over the channels of a pixel. Needs the kernel's `params`.

// Values of channel quad `quad`, with zeros from channel params.channels on.
fn known(quad: u32, values: vec4<f32>) -> vec4<f32> {
    let channel = 4u * quad + vec4<u32>(0u, 1u, 2u, 3u);
    return select(vec4<f32>(0.0), values, channel < vec4<u32>(params.channels));
}

fn sum_of_four(values: vec4<f32>) -> f32 {
    return (values.x + values.y) + (values.z + values.w);
}
