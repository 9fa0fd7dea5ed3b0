// A tile of 128 rows and 128 columns: each of 256 invocations has 8 × 8 results.
// Needs tile.wgsl and buffered_tile.wgsl.
const COLUMN_QUADS: u32 = 32u;

fn add_four_depths(tile: ptr<function, Tile>, buffer: u32, depth: u32, row: u32, column: u32) {
    add_four_outer_products(
        tile,
        left_quads(buffer, depth, row),
        left_quads(buffer, depth, row + 16u),
        right_quads(buffer, depth, column),
        right_quads(buffer, depth, column + 16u),
    );
}

// `first_column` counts fours.
fn store_tile(tile: Tile, local: u32, first_row: u32, first_column: u32) {
    let row = first_row + 4u * tile_row(local);
    let column = first_column + tile_column(local);
    // Rows 0..3 and 64..67.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 16u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 16u, quads[2u * i + 1u]);
    }
}
