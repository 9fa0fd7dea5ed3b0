// Numbers as three digits, such as sample, row and column of a pixel: whoever goes on by the same number again and
// again has to divide only once. The last digit is below radices.y, the one before it below radices.x.
fn digits(number: u32, radices: vec2<u32>) -> vec3<u32> {
    let rest = number / radices.y;
    return vec3<u32>(rest / radices.x, rest % radices.x, number % radices.y);
}

// The digits of a + b.
fn sum_of_digits(a: vec3<u32>, b: vec3<u32>, radices: vec2<u32>) -> vec3<u32> {
    var sum = a + b;
    // Two digits and a carry are below twice the radix.
    let column_carries = sum.z >= radices.y;
    sum.z -= select(0u, radices.y, column_carries);
    sum.y += u32(column_carries);
    let row_carries = sum.y >= radices.x;
    sum.y -= select(0u, radices.x, row_carries);
    sum.x += u32(row_carries);
    return sum;
}
