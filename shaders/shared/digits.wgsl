// Numbers as three digits, such as the sample, row and column of a pixel. A loop with a constant step divides only
// once. The last digit is below radices.y, the middle one below radices.x.
fn digits(number: u32, radices: vec2<u32>) -> vec3<u32> {
    let rest = number / radices.y;
    return vec3<u32>(rest / radices.x, rest % radices.x, number % radices.y);
}

// Digits of a + b.
fn sum_of_digits(a: vec3<u32>, b: vec3<u32>, radices: vec2<u32>) -> vec3<u32> {
    var sum = a + b;
    // The sum of two digits and a carry is below twice the radix.
    let column_carries = sum.z >= radices.y;
    sum.z -= select(0u, radices.y, column_carries);
    sum.y += u32(column_carries);
    let row_carries = sum.y >= radices.x;
    sum.y -= select(0u, radices.x, row_carries);
    sum.x += u32(row_carries);
    return sum;
}
