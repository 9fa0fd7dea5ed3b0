// Windows of a pooling layer. Needs pool_params.wgsl and the kernel's `params`.
// Taps of an output's window inside the image: rows and columns from `first` up to `end`, in image coordinates.
struct Window {
    first: vec2<u32>,
    end: vec2<u32>,
}

fn window(output: vec2<u32>) -> Window {
    let start = output * params.stride;
    let extent = vec2<u32>(params.input_height, params.input_width);
    let padding = vec2<u32>(params.padding);
    return Window(max(start, padding) - padding, min(start + params.side - padding, extent));
}

// Outputs whose windows cover an input pixel: from `first` up to `end`.
fn windows_over(input: vec2<u32>) -> Window {
    let at = input + params.padding;
    let first = select((at - params.side) / params.stride + 1u, vec2<u32>(0u), at < vec2<u32>(params.side));
    return Window(first, min(at / params.stride + 1u, vec2<u32>(params.output_height, params.output_width)));
}
