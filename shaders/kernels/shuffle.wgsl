// shuffle: random order of an epoch's samples. Each element is computed independently, without sequential draws on the
// host. A Feistel network (Luby and Rackoff, "How to construct pseudorandom permutations from pseudorandom functions",
// 1988) permutes 0..2^bits; results outside 0..samples are permuted again (Black and Rogaway, "Ciphers with arbitrary
// finite domains", 2002).
//
// params: Shuffle. order: (samples) sample indices, from `first` on.
// kernel "shuffle", 64 invocations: "invocation", "pcg4d"
struct Params {
    // Number of training samples, at least one.
    samples: u32,
    // Number of the first training sample.
    first: u32,
    // First of eight streams of the generator.
    stream: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;

const ROUNDS: u32 = 8u;

// Sixteen bits, the largest size of half a number.
fn round_hash(half: u32, round: u32) -> u32 {
    return pcg4d(vec4<u32>(half, params.stream + round, step.epoch, step.seed)).x >> 16u;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = invocation_number(workgroup, workgroups, local);
    if place >= params.samples {
        return;
    }
    // At least one bit per half.
    let bits = max(32u - countLeadingZeros(params.samples - 1u), 2u);
    let low_bits = bits / 2u;
    let low_mask = (1u << low_bits) - 1u;
    let high_mask = (1u << (bits - low_bits)) - 1u;
    var number = place;
    // Terminates: repeated permutation follows a cycle through `place`, which is below `samples`.
    loop {
        var high = number >> low_bits;
        var low = number & low_mask;
        for (var round = 0u; round < ROUNDS; round += 2u) {
            high ^= round_hash(low, round) & high_mask;
            low ^= round_hash(high, round + 1u) & low_mask;
        }
        number = (high << low_bits) | low;
        if number < params.samples {
            break;
        }
    }
    order[place] = params.first + number;
}
