#!/usr/bin/env bash
# Measures a GPU in one go: golden traces, kernels, training steps compared with PyTorch, airbench94 to 94 %, and the
# overhead of a browser. README.md in this folder lists the requirements and the results.
set -uo pipefail
set -m # Each stage is a separate process group, so a signal reaches all of it.

usage() {
  cat <<'TEXT'
usage: measure-a-gpu.sh PROGRAMS DATA OUT [options]

  PROGRAMS          folder with native-runner; for the browser also leaderboard and page/ (the built page)
  DATA              folder of the converted data sets, as `cargo xtask data` or `native-runner fetch-data` makes it
  OUT               folder to write to; it is made

  --adapter NAME    discrete, integrated, cpu, an index or a part of a name [default: $GRADMARK_ADAPTER or discrete]
  --minutes N       time for all of it [default: 10]; stages that are less important go without
  --stages A,B      only these stages, in the usual order [default: all]
  --golden DIR      golden traces [default: golden/ beside the folder of this script, or reference/golden of a checkout]
  --torch-device D  device of PyTorch [default: cuda, or cpu with --adapter cpu]

Stages, the most important first:
  machine adapters backends workloads traces kernels kernels-f16 steps pytorch-eager airbench94-seed1 profile-mlp
  profile-cnn profile-airbench94 quick pytorch-compiled browser steps-f16 steps-f16-matrix airbench94-f16-seed1
  airbench94-seed2 airbench94-seed3 pytorch-graphs steps-others kernels-more

The variable PYTHON names the Python to use [default: python3].
Exit status: 0 all stages that ran are fine, 1 one failed or was cut off, 2 wrong usage.
TEXT
}

die() {
  echo "measure-a-gpu.sh: $*" >&2
  exit 2
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
adapter=${GRADMARK_ADAPTER:-discrete} minutes=10 only='' golden='' torch_device=''
places=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --adapter | --minutes | --stages | --golden | --torch-device)
      (($# > 1)) || die "$1 needs a value"
      case $1 in
        --adapter) adapter=$2 ;;
        --minutes) minutes=$2 ;;
        --stages) only=",$2," ;;
        --golden) golden=$2 ;;
        --torch-device) torch_device=$2 ;;
      esac
      shift 2 ;;
    -*) die "$1 is no option; --help lists them" ;;
    *) places+=("$1"); shift ;;
  esac
done
((${#places[@]} == 3)) || { usage >&2; exit 2; }
[[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || die "--minutes must be a whole number above 0"
programs=${places[0]} data=${places[1]} out=${places[2]}
runner=$programs/native-runner
[[ -x $runner ]] || die "$runner is not a program"
[[ -d $data ]] || die "$data is not a folder"
mkdir -p "$out" || die "$out cannot be made"
for folder in "$here/../golden" "$here/../../../reference/golden"; do
  [[ -z $golden && -d $folder ]] && golden=$folder
done
[[ -n $torch_device ]] || { [[ $adapter == cpu ]] && torch_device=cpu || torch_device=cuda; }
python=$(command -v "${PYTHON:-python3}" || true)

begin=$SECONDS
deadline=$((begin + 60 * minutes))
names=() states=() times=() remarks=()
worst=0 current=''

# Scales a time limit that is given for --minutes 10.
share() {
  local seconds=$(($1 * minutes / 10))
  echo $((seconds > 0 ? seconds : 1))
}

wanted() {
  [[ -z $only || $only == *",$1,"* ]]
}

note() { # name, state, seconds, remark
  names+=("$1") states+=("$2") times+=("$3") remarks+=("$4")
  printf '   %s%s\n' "$2" "${4:+: $4}"
}

# What an older run left is no result of this one.
forget() {
  rm -f "$out/$1".{json,txt,log}
}

leave_out() { # name, reason
  wanted "$1" || return 0
  printf -- '-- %s\n' "$1"
  forget "$1"
  note "$1" 'left out' 0 "$2"
}

# Runs a stage until its own limit or the end of all time. Its output goes to NAME.txt or NAME.json, its messages to
# NAME.log. A first signal asks it to end with what it has; the second comes after a grace and cannot be refused.
grace=15
end_group() { # Whatever a program that was killed left running would slow the next stage down.
  [[ -z $current ]] || kill -KILL -- "-$current" 2>/dev/null || true
  current=''
}

stage() { # name, limit in seconds of ten minutes, ending of the output, command …
  local name=$1 limit ending=$3 left status start=$SECONDS
  limit=$(share "$2")
  shift 3
  wanted "$name" || return 0
  # Room for the grace and the summary, so that all of it ends within the minutes.
  left=$((deadline - SECONDS - grace - 5))
  ((left >= 5)) || { leave_out "$name" 'no time was left'; return 0; }
  ((limit <= left)) || limit=$left
  printf -- '-- %s\n' "$name"
  forget "$name"
  # In the foreground, as timeout calls it, the signal comes once; native-runner takes a second one to mean at once.
  timeout --foreground --signal=INT --kill-after=$grace "$limit" "$@" \
    >"$out/$name.$ending" 2>"$out/$name.log" </dev/null &
  current=$!
  wait "$current"
  status=$?
  end_group
  [[ -s $out/$name.$ending ]] || rm -f "$out/$name.$ending"
  local spent=$((SECONDS - start)) last
  last=$(tail -n 1 "$out/$name.log" | tr -d '\r' | cut -c 1-160)
  [[ -n $last || $ending == json ]] || last=$(tail -n 1 "$out/$name.$ending" 2>/dev/null | cut -c 1-160)
  case $status in
    0) note "$name" ok "$spent" '' ;;
    124 | 137)
      worst=1
      note "$name" 'cut off' "$spent" "after ${limit} s; what it had by then is in $name.*" ;;
    *)
      if ((status == 2)) && grep -q 'does not compute in' "$out/$name.log"; then
        # The device lacks what this precision needs: an answer, and no failure.
        note "$name" refused "$spent" "$(tr -d '\r' <"$out/$name.log" | tr '\n' ' ')"
      else
        worst=1
        note "$name" failed "$spent" "status $status${last:+: $last}"
      fi ;;
  esac
}

finish() {
  trap - INT TERM
  [[ -n $python ]] && "$python" "$here/summarise.py" "$out" >"$out/summary.md" 2>"$out/summary.log"
  {
    printf '\n%-22s %-9s %7s  %s\n' stage status seconds remark
    for index in "${!names[@]}"; do
      printf '%-22s %-9s %7s  %s\n' "${names[index]}" "${states[index]}" "${times[index]}" "${remarks[index]}"
    done
    printf '%-22s %-9s %7s\n' all '' $((SECONDS - begin))
  } | tee "$out/stages.txt"
  if [[ -n $python && -s $out/summary.md ]]; then
    printf '\n'
    awk '/^## /{shown = /Targets/} shown' "$out/summary.md"
    printf 'Everything: %s\n' "$out/summary.md"
  else
    printf '\nNo summary: it needs %s.\n' "${PYTHON:-python3}"
  fi
  exit "$worst"
}

# shellcheck disable=SC2317 # the trap below calls it
interrupted() {
  trap - INT TERM
  worst=1
  if [[ -n $current ]]; then
    kill -INT "$current" 2>/dev/null
    wait "$current"
    end_group
  fi
  note 'the rest' 'left out' 0 'interrupted'
  finish
}
trap interrupted INT TERM

# shellcheck disable=SC2317 # called by a stage
machine() {
  date -u
  uname -srm
  grep -m 1 'model name' /proc/cpuinfo
  nproc
  free -m 2>/dev/null
  echo "VK_DRIVER_FILES=${VK_DRIVER_FILES:-}"
  ldconfig -p 2>/dev/null | grep libvulkan || echo 'the Vulkan loader is not where ldconfig looks: install libvulkan1'
  "$runner" --version
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit --format=csv
  else
    echo 'nvidia-smi is missing'
  fi
  command -v vulkaninfo >/dev/null && vulkaninfo --summary 2>/dev/null
  true
}
export -f machine
export runner

all_of() { # workload's prefix of files
  [[ -e $data/$1-train.bin && -e $data/$1-test.bin ]]
}

# shellcheck source=stages.sh
source "$here/stages.sh"
for name in ${only//,/ }; do
  if [[ " ${names[*]} " != *" $name "* ]]; then
    worst=1
    note "$name" failed 0 'there is no stage of this name; --help lists them'
  fi
done
finish
