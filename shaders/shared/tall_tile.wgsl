// A tile of 128 rows and 64 columns: each of 256 invocations has 8 × 4 results. They need fewer registers than a large
// tile's, so that more workgroups have room on a processor, and a product has twice as many tiles.
// Needs buffered_tile.wgsl and half_tile.wgsl.
const COLUMN_QUADS: u32 = 16u;

alias Tile = HalfTile;

fn add_four_depths(tile: ptr<function, Tile>, buffer: u32, depth: u32, row: u32, column: u32) {
    let high = left_quads(buffer, depth, row + 16u);
    add_four_half_products(tile, left_quads(buffer, depth, row), high, right_quads(buffer, depth, column));
}

// `first_column` counts fours.
fn store_tile(tile: Tile, local: u32, first_row: u32, first_column: u32) {
    let row = first_row + 4u * tile_row(local);
    let column = first_column + tile_column(local);
    var rows = array<vec4<f32>, 8>(
        tile.row0, tile.row1, tile.row2, tile.row3, tile.row4, tile.row5, tile.row6, tile.row7,
    );
    // Rows 0..3 and 64..67.
    for (var i = 0u; i < 8u; i++) {
        store(row + (i & 3u) + 16u * (i & 4u), column, rows[i]);
    }
}
