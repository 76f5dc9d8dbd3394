#!/bin/sh
# configure.sh BUILD_FOLDER [CMAKE_OPTION...]: runs CMake with Ninja, quietly when all is well.
# A build folder made with another compiler (CC) is made anew.
set -eu
build=$1
shift
cd "$(dirname "$0")/.."

if ! command -v cmake >/dev/null; then
    echo "configure: cmake is not installed; Mercator needs CMake 3.25 or later and Ninja" >&2
    exit 1
fi
version=$(cmake --version | sed -n '1s/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
if [ "${version%%.*}" -lt 3 ] || { [ "${version%%.*}" -eq 3 ] && [ "${version#*.}" -lt 25 ]; }; then
    echo "configure: found CMake $version, expected 3.25 or later (Debian 12 has 3.25)" >&2
    exit 1
fi

# make sets CC to "cc" only when asked; an empty name means CMake's own choice.
compiler=${CC:-}
stamp=$build/compiler
fresh=
if [ -e "$build/CMakeCache.txt" ] && [ "$(cat "$stamp" 2>/dev/null)" != "$compiler" ]; then
    fresh=--fresh
fi
mkdir -p "$build"
if ! cmake -S . -B "$build" -G Ninja $fresh "$@" >"$build/configure.log" 2>&1; then
    cat "$build/configure.log" >&2
    exit 1
fi
printf '%s\n' "$compiler" >"$stamp"
