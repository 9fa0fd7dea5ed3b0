// Input pixels of the taps of a forward convolution. Needs conv2d_params.wgsl and the kernel's `params`.
// Sample, row and column of an output pixel; `pixel` counts over the whole batch.
fn place(pixel: u32) -> vec3<u32> {
    let area = params.output_height * params.output_width;
    let within = pixel % area;
    return vec3<u32>(pixel / area, within / params.output_width, within % params.output_width);
}

// First input pixel of an output pixel's window; may be out of bounds.
struct Window {
    first: i32,
    row: i32,
    column: i32,
    // Number of spare values stored after the previous samples.
    spare: u32,
}

fn window(pixel: u32) -> Window {
    let at = place(pixel);
    let row = i32(at.y * STRIDE) - i32(params.padding_rows);
    let column = i32(at.z * STRIDE) - i32(params.padding_columns);
    let first = (i32(at.x * params.input_height) + row) * i32(params.input_width) + column;
    return Window(first, row, column, at.x * params.input_spare);
}

// True if tap (ky, kx) of a window is inside the image.
fn tap_inside(origin: Window, ky: u32, kx: u32) -> bool {
    // A negative coordinate wraps to a huge unsigned one.
    return (u32(origin.row + i32(ky)) < params.input_height) & (u32(origin.column + i32(kx)) < params.input_width);
}
