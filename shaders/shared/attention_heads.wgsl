// Tiles of the tokens of a head. Needs attention.wgsl, the kernel's `x`, and TILE, the tokens of a tile.

// The tokens of a tile are those of a head from `first` on. Starts are the places of the head's first token.
struct HeadTile {
    head: u32,
    first: u32,
    queries: u32,
    results: u32,
    // Place of the first token's log-sum-exp.
    numbers: u32,
}

fn head_tile(number: u32) -> HeadTile {
    let tiles = (params.tokens + TILE - 1u) / TILE;
    let head = number / tiles;
    let row = head / params.heads;
    let query = query_of(row, head % params.heads, 0u);
    let result = result_of(row, head % params.heads, 0u);
    return HeadTile(head, number % tiles * TILE, query, result, head * params.tokens);
}

// Tokens that the tile's queries attend to are those before this one.
fn end_of_tile(tile: HeadTile) -> u32 {
    return select(params.tokens, min(tile.first + TILE, params.tokens), params.causal == 1u);
}

// Quads between a token's query, key or value and the next token's.
fn stride() -> u32 {
    return 3u * width();
}

// Four tokens from `first` on.
fn four_tokens(first: u32) -> vec4<u32> {
    return first + vec4<u32>(0u, 1u, 2u, 3u);
}

// Out-of-bounds tokens, clamped to the last one. Their results are not stored.
fn known(tokens: vec4<u32>) -> vec4<u32> {
    return min(tokens, vec4<u32>(params.tokens - 1u));
}

// Mask of four queries that attend to a key.
fn attending(queries: vec4<u32>, key: u32) -> vec4<bool> {
    let attends = (queries >= vec4<u32>(key)) | vec4<bool>(params.causal == 0u);
    return attends & vec4<bool>(key < params.tokens);
}

// Scores of four queries with a key, given their products; the lowest score if a query does not attend to the key.
fn masked(products: vec4<f32>, queries: vec4<u32>, key: u32) -> vec4<f32> {
    return select(vec4<f32>(LOWEST), params.scale * products, attending(queries, key));
}

// Mask of four keys that a query attends to.
fn attended(keys: vec4<u32>, query: u32) -> vec4<bool> {
    let attends = (keys <= vec4<u32>(query)) | vec4<bool>(params.causal == 0u);
    return attends & vec4<bool>(query < params.tokens);
}

// Quad `n` of a query, key or value that begins at `start`; zero beyond the head.
fn x_quad(start: u32, n: u32) -> vec4<f32> {
    let quads = params.head_size / 4u;
    return select(vec4<f32>(0.0), vec4<f32>(x[start + min(n, quads - 1u)]), n < quads);
}

// The same quad of four tokens: a column per component.
fn four_x_quads(starts: vec4<u32>, n: u32) -> mat4x4<f32> {
    let quads = mat4x4<f32>(x_quad(starts.x, n), x_quad(starts.y, n), x_quad(starts.z, n), x_quad(starts.w, n));
    return transpose(quads);
}
