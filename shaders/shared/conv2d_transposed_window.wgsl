// Output pixels of the taps of a convolution's input gradient. Needs conv2d_params.wgsl and the kernel's `params`.
// Row and column of an input pixel in the padded image, and the first output pixel of its sample.
struct Window {
    first: u32,
    row: i32,
    column: i32,
}

fn window(pixel: u32) -> Window {
    let area = params.input_height * params.input_width;
    let within = pixel % area;
    return Window(
        pixel / area * params.output_height * params.output_width,
        i32(within / params.input_width + params.padding_rows),
        i32(within % params.input_width + params.padding_columns),
    );
}

const NOWHERE: u32 = 0xffffffffu;

// Output pixel whose window has tap (ky, kx) on this input pixel, or NOWHERE.
fn output_under(origin: Window, ky: u32, kx: u32) -> u32 {
    // A negative coordinate wraps to a huge one, which is out of bounds after any division.
    let row = u32(origin.row - i32(ky));
    let column = u32(origin.column - i32(kx));
    let out_row = row / STRIDE;
    let out_column = column / STRIDE;
    // & instead of &&: in loops like these, a software adapter took twenty times as long to compile branches.
    let inside = (out_row * STRIDE == row) & (out_column * STRIDE == column)
        & (out_row < params.output_height) & (out_column < params.output_width);
    return select(NOWHERE, origin.first + out_row * params.output_width + out_column, inside);
}
