// Like x_columns of attention_four.wgsl, for the kernel's `dy`.
fn dy_columns(starts: vec4<u32>, n: u32) -> mat4x4<f32> {
    return mat4x4<f32>(
        vec4<f32>(dy[starts.x + n]),
        vec4<f32>(dy[starts.y + n]),
        vec4<f32>(dy[starts.z + n]),
        vec4<f32>(dy[starts.w + n]),
    );
}
