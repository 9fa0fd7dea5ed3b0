#!/usr/bin/env bash
# Runs one of the three jobs that measure a GPU within minutes. README.md in this folder lists requirements and results.
set -uo pipefail
set -m # Each stage is a separate process group, so a signal reaches all of it.

usage() {
  cat <<'TEXT'
usage: job.sh NUMBER PACKS RESULTS [options]

  NUMBER             1, 2 or 3; they run in this order on the same machine
  PACKS              folder of job1.tar.xz, job2.tar.xz or job3.tar.xz, as pack.sh writes them
  RESULTS            folder to add to: NAME.json, NAME.txt and NAME.log of each stage, stages.tsv, and summary.md

  --adapter NAME     discrete, integrated, cpu, an index or a part of a name [default: discrete]
  --seconds N        time for all of it [default: 240, 180 and 180]
  --bundle DIR       folder that the jobs unpack into and share [default: /tmp/gradmark-gpu]
  --archive FILE     also pack RESULTS into FILE after each stage, for machines that return only a few files
  --stages A,B       only these stages
  --profile NAME     network that job 2 profiles [default: the slowest in job 1, compared with PyTorch or the peak]

The variable PYTHON names the Python to use [default: python3].
Exit status: 0 all stages that ran are fine, 1 one failed or was cut off, 2 wrong usage.
TEXT
}

job='' packs='' results='' adapter=discrete seconds='' bundle=/tmp/gradmark-gpu archive='' only='' slowest=''
places=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --adapter) adapter=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --bundle) bundle=$2; shift 2 ;;
    --archive) archive=$2; shift 2 ;;
    --stages) only=,$2,; shift 2 ;;
    --profile) slowest=$2; shift 2 ;;
    -*) usage >&2; exit 2 ;;
    *) places+=("$1"); shift ;;
  esac
done
((${#places[@]} == 3)) && [[ ${places[0]} == [123] ]] || { usage >&2; exit 2; }
job=${places[0]} packs=${places[1]} results=${places[2]}
mkdir -p "$bundle" "$results" || exit 2
[[ -n $seconds ]] || { ((job == 1)) && seconds=240 || seconds=180; }
deadline=$((SECONDS + seconds))
runner=$bundle/programs/native-runner data=$bundle/data
python=$(command -v "${PYTHON:-python3}" || true)
[[ $adapter == cpu ]] && torch_device=cpu || torch_device=cuda
worst=0 current='' stage_name=''
# A stage that is cut off may write what it has for so long; job.sh needs as long at the end.
grace=5

note() { # stage, status, seconds, exit status, remark
  [[ -s $results/stages.tsv ]] || printf 'job\tstage\tstatus\tseconds\texit\tremark\n' >"$results/stages.tsv"
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$job" "$@" >>"$results/stages.tsv"
  printf '%-20s %-8s %4s s  %s\n' "$1" "$2" "$3" "$5"
  [[ -z $archive ]] || { tar -czf "$archive.part" -C "$results" . && mv "$archive.part" "$archive"; }
}

skip() { # stage, reason
  [[ -z $only || $only == *",$1,"* ]] || return 0
  note "$1" skipped 0 '' "$2"
}

end_group() { # Whatever a program that was killed left running would slow the next stage down.
  [[ -z $current ]] || kill -KILL -- "-$current" 2>/dev/null || true
  current=''
}

# Runs a stage until its own limit or the end of the job. Its output goes to NAME.txt or NAME.json, its messages to
# NAME.log. A first signal asks it to end with what it has, the second cannot be refused.
stage() { # stage, limit in seconds, ending of the output, command …
  local name=$1 limit=$2 ending=$3 left=$((deadline - SECONDS - grace)) start=$SECONDS status spent last
  shift 3
  [[ -z $only || $only == *",$name,"* ]] || return 0
  ((left > 2 * grace)) || { skip "$name" 'no time left'; return 0; }
  ((limit <= left)) || limit=$left
  stage_name=$name
  rm -f "$results/$name".{json,txt,log}
  # In the foreground, as timeout calls it, the signal comes once; native-runner takes a second one to mean at once.
  timeout --foreground --signal=INT --kill-after=$grace $((limit - grace)) "$@" \
    >"$results/$name.$ending" 2>"$results/$name.log" </dev/null &
  current=$!
  wait "$current"
  status=$?
  end_group
  spent=$((SECONDS - start))
  last=$(tail -qn 1 "$results/$name.log" | tr -d '\r\t' | cut -c 1-160)
  [[ -n $last || $ending == json ]] || last=$(tail -qn 1 "$results/$name.txt" | tr -d '\r\t' | cut -c 1-160)
  case $status in
    0) note "$name" ok "$spent" 0 "$last" ;;
    124 | 137) worst=1; note "$name" 'cut off' "$spent" "$status" "at its limit of $limit s" ;;
    *) if ((status == 2)) && grep -qs 'does not support' "$results/$name.log"; then
        # The device lacks what this precision needs: an answer, and no failure.
        note "$name" refused "$spent" "$status" "$last"
      else
        worst=1
        note "$name" failed "$spent" "$status" "$last"
      fi ;;
  esac
}

finish() {
  trap - INT TERM
  if [[ -n $python && -f $bundle/summarise.py ]]; then
    timeout $grace "$python" "$bundle/summarise.py" "$results" >"$results/summary.md" 2>"$results/summary.log"
    awk '/^## /{shown = /Targets/} shown' "$results/summary.md"
  fi
  note "job $job" "$([[ $worst == 0 ]] && echo ok || echo incomplete)" $((seconds - deadline + SECONDS)) "$worst" ''
  exit "$worst"
}

# shellcheck disable=SC2329 # the trap below calls it
interrupted() {
  worst=1
  [[ -z $current ]] || kill -INT "$current" 2>/dev/null
  sleep 2
  end_group
  note "$stage_name" interrupted '' 130 ''
  finish
}
trap interrupted INT TERM

# shellcheck disable=SC2329 # a stage calls it
unpack() {
  local pack
  pack=$(find "$packs" -maxdepth 1 -name "job$job.tar.xz" | head -n 1)
  [[ -n $pack ]] || { echo "$packs has no archive of job $job" >&2; return 1; }
  tar -xf "$pack" -C "$bundle" 2>/dev/null || "$python" -m tarfile -e "$pack" "$bundle" || return 1
  ((job < 3)) || join_halves
}

# shellcheck disable=SC2329 # a stage calls it
join_halves() {
  [[ -e $bundle/cifar10-half-1 ]] || { echo "$bundle has no half of job 2" >&2; return 1; }
  mkdir -p "$data" || return 1
  { cat "$bundle/cifar10-half-1" && head -c 61460000 "$bundle/cifar10-half-2"; } >"$data/cifar10-train.bin" &&
    tail -c 30730032 "$bundle/cifar10-half-2" >"$data/cifar10-test.bin"
}

# Uses the packed Vulkan loader where there is none, and finds NVIDIA's driver where the loader would not look.
find_vulkan() {
  ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || export LD_LIBRARY_PATH=$bundle/lib:${LD_LIBRARY_PATH:-}
  if [[ -z ${VK_DRIVER_FILES:-} && $adapter != cpu ]] && command -v nvidia-smi >/dev/null; then
    local driver
    driver=$(find /usr /etc -name 'nvidia_icd*.json' -print -quit 2>/dev/null)
    [[ -z $driver ]] || export VK_DRIVER_FILES=$driver
  fi
}

# shellcheck disable=SC2329 # a stage calls it
machine() {
  date -u
  uname -srm
  grep -m 1 'model name' /proc/cpuinfo
  nproc
  echo "VK_DRIVER_FILES=${VK_DRIVER_FILES:-} LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}"
  "$runner" --version
  command -v nvidia-smi >/dev/null || return 0
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit --format=csv
}
export -f unpack join_halves machine
export job packs bundle data runner python

steps() { # stage, limit, more arguments
  local name=$1 limit=$2
  shift 2
  stage "$name" "$limit" json "$runner" steps --adapter "$adapter" --data "$data" --json "$@"
}

traces() { # stage, limit, more arguments
  local name=$1 limit=$2
  shift 2
  [[ -n $python ]] || { skip "$name" 'no Python'; return 0; }
  stage "$name" "$limit" txt "$python" "$bundle/check_traces.py" --runner "$runner" --golden "$bundle/golden" \
    --data "$data" --adapter "$adapter" --json "$results/$name.json" "$@"
}

# What torch computes on. Importing it takes seconds, in the background of stages that time nothing.
ask_torch() {
  timeout 40 "${python:-false}" -c 'import torch; print("cuda" if torch.cuda.is_available() else "cpu")' \
    >"$results/torch.txt" 2>"$results/torch.log"
}

torch() { # stage, limit, more arguments
  local name=$1 limit=$2
  shift 2
  case $(cat "$results/torch.txt") in
    "$torch_device" | cuda) stage "$name" "$limit" txt "$python" "$bundle/pytorch_steps.py" \
      --device "$torch_device" --seconds 0.3 --windows 3 --json "$results/$name.json" "$@" ;;
    cpu) skip "$name" 'this torch sees no GPU' ;;
    *) skip "$name" 'no torch' ;;
  esac
}

profile() { # stage, network
  stage "$1" 20 txt "$runner" profile --workload "$2" --adapter "$adapter" --noise --seconds-per-launch 0.05
}

airbench94() { # stage, seed, more arguments of a run
  local name=$1 seed=$2
  shift 2
  # 9.9 epochs of 48 batches, which is the recipe's length.
  stage "$name" 45 txt "$runner" --adapter "$adapter" --data "$data" --workload airbench94 --steps 476 \
    --seed "$seed" --json "$results/$name.json" "$@"
}

# Names of the backends of the program that run here, except wgsl.
others() {
  [[ -z $python ]] || "$python" -c 'import json, sys
apart = ("wgsl", "reference", "burn-remote")
print(",".join(one["name"] for one in json.load(open(sys.argv[1])) if one["runs"] and one["name"] not in apart))
' "$results/backends.json" 2>/dev/null
}

mnist=keras-mnist-mlp,keras-mnist-cnn,keras-mnist-hrnn,tensorflow-mnist,caffe-mnist,torch-mnist,theano-mnist
cifar10=airbench94,resnet20-cifar10,keras-cifar10-cnn,tensorflow-cifar10,transformer-cifar10,caffe-cifar10
cifar10+=,torch-cifar10,theano-cifar10
language=gpt-nano,gpt-small

first() {
  local burn asking
  ask_torch &
  asking=$!
  stage machine 15 txt bash -c machine
  stage adapters 15 json "$runner" adapters --json
  stage backends 15 json "$runner" backends --json
  stage workloads 10 json "$runner" workloads --json
  stage doctor 25 txt "$runner" doctor --backend wgsl --adapter "$adapter" --data "$data" --trace-seconds 10
  wait "$asking"
  stage kernels-peaks 15 json "$runner" kernels --suite arithmetic,memory,launch --adapter "$adapter" --json
  stage kernels 40 json "$runner" kernels --suite gemm --budget-seconds 0.3 --adapter "$adapter" --json
  steps steps-mnist 35 --backend wgsl --unchecked --seconds-per-workload 1.5 --workload "$mnist"
  torch pytorch-eager 40
  steps steps-cifar10 35 --backend wgsl --unchecked --seconds-per-workload 1.2 --noise \
    --workload "$cifar10"
  steps steps-language 15 --backend wgsl --unchecked --seconds-per-workload 1.5 --workload "$language"
  traces traces 30 --backend wgsl
  torch pytorch-graphs 35 --compile reduce-overhead --workload keras-mnist-mlp,keras-mnist-cnn,airbench94
  torch pytorch-compiled 35 --compile --workload keras-mnist-mlp,keras-mnist-cnn,airbench94
  stage kernels-conv 25 json "$runner" kernels --suite conv --budget-seconds 0.3 --adapter "$adapter" --json
  burn=$(others)
  if [[ -n $burn ]]; then
    traces traces-burn 30 --backend "$burn"
  else
    skip traces-burn 'native-runner has no Burn that runs here'
  fi
}

second() {
  local burn
  [[ -n $slowest || -z $python ]] || slowest=$("$python" "$bundle/summarise.py" --slowest "$results")
  profile profile-slowest "${slowest:-keras-mnist-hrnn}"
  steps steps-wide 25 --backend wgsl --precision f16-matrix --seconds-per-workload 3 --noise \
    --workload-file "$bundle/wide.toml"
  steps steps-f16 40 --backend wgsl --precision f16 --unchecked --seconds-per-workload 0.8 --noise \
    --workload "$mnist,$cifar10,$language"
  steps steps-f16-matrix 40 --backend wgsl --precision f16-matrix --seconds-per-workload 0.8 --noise \
    --workload "$mnist,$cifar10,$language"
  profile profile-airbench94 airbench94
  profile profile-mlp keras-mnist-mlp
  profile profile-cnn keras-mnist-cnn
  burn=$(others)
  if [[ -n $burn ]]; then
    steps steps-burn 40 --backend "$burn" --unchecked --seconds-per-workload 1.5 --noise --workload "$mnist,$cifar10,$language"
  else
    skip steps-burn 'native-runner has no Burn that runs here'
  fi
  stage kernels-rnn 25 json "$runner" kernels --suite rnn --budget-seconds 0.3 --adapter "$adapter" --json
}

third() {
  airbench94 airbench94-seed1 1
  stage quick 40 txt "$runner" --adapter "$adapter" --data "$data" --json "$results/quick.json"
  if [[ -z $python ]]; then
    skip browser 'no Python'
  elif ! command -v chromedriver >/dev/null; then
    skip browser 'no Chromium with chromedriver'
  elif [[ ! -x $bundle/programs/leaderboard ]]; then
    skip browser 'leaderboard and page were not packed'
  else
    stage browser 60 txt "$python" "$bundle/run_in_browser.py" --runner "$runner" --adapter "$adapter" --data "$data" \
      --leaderboard "$bundle/programs/leaderboard" --page "$bundle/programs/page" --seconds 6 --patience 20 \
      --json "$results/browser.json"
  fi
  traces traces-cifar10 20 --backend wgsl --trace cifar10
  airbench94 airbench94-seed2 2
  airbench94 airbench94-f16-seed1 1 --precision f16
  airbench94 airbench94-seed3 3
}

# xz and restoring CIFAR-10 take about ten seconds of one core.
stage unpack 100 txt bash -c unpack
[[ -x $runner ]] || { note "job $job" failed 0 1 'native-runner is missing: job 1 brings it'; exit 1; }
find_vulkan
case $job in
  1) first ;;
  2) second ;;
  3) third ;;
esac
finish
