#!/usr/bin/env bash
# Packs what the three jobs of job.sh need into one archive each. README.md in this folder explains them.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: pack.sh OUT [options], in a checkout

  OUT              folder to write job.sh, job1.tar.xz to job3.tar.xz to; it is made

  --features A,B   build native-runner with these features too, such as burn-cuda, if it then still fits
  --data DIR       converted data sets [default: data/ of the checkout; missing ones are fetched]
  --limit MIB      mebibytes that an archive may have [default: 56, which leaves 8 of 64 for a checkout with it]

If `cargo xtask run` has built the server and the page, job 3 also measures Chromium.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
out='' features='' data=$top/data limit=56
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --features) features=$2; shift 2 ;;
    --data) data=$2; shift 2 ;;
    --limit) limit=$2; shift 2 ;;
    -*) usage >&2; exit 2 ;;
    *) out=$1; shift ;;
  esac
done
[[ -n $out ]] || { usage >&2; exit 2; }
mkdir -p "$out"
programs=${CARGO_TARGET_DIR:-$top/target}/release
bundle=$(mktemp -d)
trap 'rm -rf "$bundle"' EXIT

fits() { # file
  local bytes
  bytes=$(stat -c %s "$1")
  awk -v bytes="$bytes" -v name="${1##*/}" 'BEGIN {printf "%-12s %6.1f MiB\n", name, bytes / 1048576}'
  ((bytes <= limit << 20))
}

build() { # features
  (cd "$top" && cargo build --release -p native-runner ${1:+--features "$1"}) &&
    strip -o "$bundle/programs/native-runner" "$programs/native-runner"
}

first() { # features
  build "$1" || exit 1
  tar -cf - -C "$bundle" . | xz -T0 -3 >"$out/job1.tar.xz" || exit 1
  fits "$out/job1.tar.xz"
}

mkdir -p "$bundle"/{programs,lib,data}
if [[ ! -e $data/cifar10-train.bin || ! -e $data/mnist-train.bin || ! -e $data/moby-dick-train.bin ]]; then
  build ''
  "$bundle/programs/native-runner" fetch-data --data "$data"
fi
loader=$(ldconfig -p | awk '/libvulkan\.so\.1 .*x86-64/ {print $NF; exit}')
if [[ -n $loader ]]; then
  cp -L "$loader" "$bundle/lib/libvulkan.so.1"
else
  echo 'The Vulkan loader (libvulkan1) is missing here, so the other machine must have it.' >&2
fi
cp "$here"/*.py "$here/wide.toml" "$bundle/"
cp -r "$top/reference/golden" "$bundle/"
cp "$data"/{mnist,moby-dick}-{train,test}.bin "$bundle/data/"
if [[ -x $programs/leaderboard && -f $top/dist/index.html ]]; then
  strip -o "$bundle/programs/leaderboard" "$programs/leaderboard"
  cp -r "$top/dist" "$bundle/programs/page"
fi

if ! first "$features"; then
  echo "job1.tar.xz has more than $limit MiB." >&2
  [[ -n $features ]] || exit 1
  echo "Packing it without $features." >&2
  first '' || exit 1
fi
mkdir "$bundle/halves"
cat "$data"/cifar10-{train,test}.bin |
  split -b 92190032 -a 1 --numeric-suffixes=1 - "$bundle/halves/cifar10-half-"
for half in 1 2; do
  # Differences from the same color of the left pixel, from the row above, and from the color before.
  tar -cf - -C "$bundle/halves" "cifar10-half-$half" |
    xz -T0 --delta=dist=3 --delta=dist=96 --delta=dist=1 --lzma2=lc=4,pb=0 >"$out/job$((half + 1)).tar.xz"
  fits "$out/job$((half + 1)).tar.xz" || { echo "job$((half + 1)).tar.xz has more than $limit MiB." >&2; exit 1; }
done
cp "$here/job.sh" "$out/"
