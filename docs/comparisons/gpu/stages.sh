# The stages of measure-a-gpu.sh, the most important first. Limits are seconds of ten minutes; they add up to more than
# that, because most stages end early. Sourced, never run directly.
# shellcheck shell=bash disable=SC2154

on_device=(--adapter "$adapter")
stage machine 15 txt bash -c machine
stage adapters 15 json "$runner" adapters --json
stage backends 30 json "$runner" backends --json
stage workloads 5 json "$runner" workloads --json

if [[ -z $python ]]; then
  leave_out traces "${PYTHON:-python3} is missing, which compares them"
elif [[ ! -d $golden ]]; then
  leave_out traces 'no golden traces; --golden names their folder'
else
  stage traces 75 txt "$python" "$here/check_traces.py" --runner "$runner" --golden "$golden" --data "$data" \
    --adapter "$adapter" --time-limit "$(share 70)" --json "$out/traces.json"
fi

stage kernels 80 json "$runner" kernels --suite arithmetic,memory,launch,gemm "${on_device[@]}" --json
leave_out kernels-f16 'native-runner measures kernels in f32 only; steps-f16 shows what f16 brings to training'

steps() { # name, limit, seconds of each workload, more arguments of `steps`
  local name=$1 limit=$2 seconds=$3
  shift 3
  stage "$name" "$limit" json "$runner" steps "${on_device[@]}" --data "$data" --json \
    --seconds-per-workload "$(share "$seconds")" "$@"
}
steps steps 160 4 --backend wgsl

# What PyTorch sees and has. Importing it takes seconds, so that it is asked once.
ask_torch() {
  [[ -n $python ]] || { echo "there is no ${PYTHON:-python3}" >"$out/pytorch.log" && return; }
  "$python" -c 'import torch; print(torch.cuda.is_available(), hasattr(torch, "compile"))' 2>"$out/pytorch.log"
}
torch() { # name, limit, seconds after which no workload is begun, more arguments of pytorch_steps.py
  local name=$1 limit=$2 begun=$3
  shift 3
  wanted "$name" || return 0
  [[ -v torch_has ]] || torch_has=$(ask_torch)
  if [[ -z $torch_has ]]; then
    leave_out "$name" "${PYTHON:-python3} with PyTorch is missing; pytorch.log has its words"
  elif [[ $torch_device == cuda* && $torch_has != 'True '* ]]; then
    leave_out "$name" 'this PyTorch sees no GPU; --torch-device cpu would measure the processor'
  elif [[ " $* " == *' --compile '* && $torch_has != *' True' ]]; then
    leave_out "$name" 'this PyTorch has no torch.compile; 2.0 and newer have it'
  else
    stage "$name" "$limit" txt "$python" "$here/pytorch_steps.py" --device "$torch_device" \
      --time-limit "$(share "$begun")" --json "$out/$name.json" "$@"
  fi
}
torch pytorch-eager 95 85 --seconds 0.7

airbench94() { # name, limit, seed, more arguments of a run
  local name=$1 limit=$2 seed=$3
  shift 3
  if all_of cifar10; then
    # 9.9 epochs of 48 batches, which is the recipe's length; the test set is looked at after each epoch and at the end.
    stage "$name" "$limit" txt "$runner" "${on_device[@]}" --data "$data" --workload airbench94 --steps 476 \
      --seed "$seed" --json "$out/$name.json" "$@"
  else
    leave_out "$name" "cifar10-train.bin or cifar10-test.bin is missing from $data"
  fi
}
airbench94 airbench94-seed1 70 1

profile() { # name, workload
  stage "$1" 20 txt "$runner" profile --workload "$2" "${on_device[@]}" --data "$data" --seconds-per-launch 0.05
}
profile profile-mlp keras-mnist-mlp
profile profile-cnn keras-mnist-cnn
if all_of cifar10; then
  profile profile-airbench94 airbench94
else
  leave_out profile-airbench94 "cifar10-train.bin or cifar10-test.bin is missing from $data"
fi

stage quick 80 txt "$runner" "${on_device[@]}" --data "$data" --json "$out/quick.json"
torch pytorch-compiled 100 80 --compile --seconds 0.7 --windows 3

if [[ -z $python ]]; then
  leave_out browser "${PYTHON:-python3} is missing, which drives it"
elif ! command -v chromedriver >/dev/null; then
  leave_out browser 'chromedriver is missing (Debian: chromium, chromium-driver, and xvfb for a window)'
elif [[ ! -x $programs/leaderboard || ! -f $programs/page/index.html ]]; then
  leave_out browser "leaderboard or page/index.html is missing from $programs"
else
  stage browser 75 txt "$python" "$here/run_in_browser.py" --runner "$runner" --leaderboard "$programs/leaderboard" \
    --page "$programs/page" --data "$data" --adapter "$adapter" --seconds "$(share 8)" --json "$out/browser.json"
fi

steps steps-f16 100 2 --backend wgsl --precision f16
# Many devices refuse this one and say which shapes of matrices they list.
steps steps-f16-matrix 100 2 --backend wgsl --precision f16-matrix
airbench94 airbench94-f16-seed1 50 1 --precision f16
airbench94 airbench94-seed2 50 2
airbench94 airbench94-seed3 50 3
torch pytorch-graphs 60 45 --compile reduce-overhead --seconds 0.7 --windows 3 \
  --workload keras-mnist-mlp,keras-mnist-cnn,airbench94,caffe-mnist,tensorflow-cifar10,resnet20-cifar10

# Every other back end of the program that runs here; together with wgsl they would halve the length of its windows.
others=''
if [[ -n $python && -s $out/backends.json ]]; then
  others=$("$python" -c '
import json, sys
apart = ("wgsl", "reference", "burn-remote")
print(",".join(one["name"] for one in json.load(open(sys.argv[1])) if one["runs"] and one["name"] not in apart))
' "$out/backends.json")
fi
# The processor alone is no adapter to ask for.
[[ $others != burn-flex ]] || on_device=(--adapter any)
if [[ -n $others ]]; then
  steps steps-others 120 4 --backend "$others"
else
  leave_out steps-others 'this program has no other back end that runs here, or backends was left out'
fi
stage kernels-more 100 json "$runner" kernels --suite conv,rnn --adapter "$adapter" --json
