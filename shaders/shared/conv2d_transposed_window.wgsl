// Where the taps of a convolution's input gradient fall. Needs conv2d_params.wgsl and the kernel's `params`.
// Where an input pixel lies in the windows: its row and column in the padded image, and its sample's first output.
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

// The output pixel whose window has tap (ky, kx) on this input pixel.
fn output_under(origin: Window, ky: u32, kx: u32) -> u32 {
    // A negative coordinate becomes a huge one, which lies outside after any division.
    let row = u32(origin.row - i32(ky));
    let column = u32(origin.column - i32(kx));
    let out_row = row / STRIDE;
    let out_column = column / STRIDE;
    // Not &&: in loops like these, a software adapter took twenty times as long to compile what may branch.
    let inside = (out_row * STRIDE == row) & (out_column * STRIDE == column)
        & (out_row < params.output_height) & (out_column < params.output_width);
    return select(NOWHERE, origin.first + out_row * params.output_width + out_column, inside);
}
