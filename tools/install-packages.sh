#!/bin/sh
# install-packages.sh [--name] STEP: installs what a step (run, test, web, fuzz, coverage, development) needs and lacks.
# With --name it installs nothing, names what is missing, and fails if there is such a thing.
# Debian and Ubuntu: through apt, as root or with sudo. Elsewhere: says what is missing and fails.
# When nothing is missing it does nothing and needs no rights.
# The lists are tools/packages/STEP.txt: "package kind name", where kind says how to see that it is there.
set -eu
cd "$(dirname "$0")/packages"
names_only=
if [ "${1:-}" = --name ]; then
    names_only=1
    shift
fi
step=${1:-}

# The steps whose lists a step needs, itself included.
case $step in
run) lists="run partitioners" ;;
test) lists="run partitioners test" ;;
web) lists="web" ;;
fuzz) lists="run partitioners fuzz" ;;
coverage) lists="run partitioners test coverage" ;;
development) lists="run partitioners test web fuzz coverage development" ;;
*)
    echo "usage: install-packages.sh [--name] run|test|web|fuzz|coverage|development" >&2
    exit 2
    ;;
esac

is_present()
{
    case $1 in
    command) command -v "$2" >/dev/null 2>&1 ;;
    pkg-config) command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$2" ;;
    header) has_header "$2" ;;
    file) ls $2 >/dev/null 2>&1 ;;
    *)
        echo "tools/packages: unknown kind '$1', expected command, pkg-config, header or file" >&2
        exit 2
        ;;
    esac
}

has_header()
{
    for folder in /usr/include /usr/include/*-linux-* /usr/local/include; do
        [ -e "$folder/$1" ] && return 0
    done
    return 1
}

# Fills `packages` (names for apt) and `explanation` (one line each, for people).
find_missing()
{
    packages=
    explanation=
    for list in $lists; do
        while read -r package kind name; do
            case $package in '' | '#'*) continue ;; esac
            is_present "$kind" "$name" && continue
            packages="$packages $package"
            explanation="$explanation
  $name ($kind; Debian package $package)"
        done <"$list.txt"
    done
}

if [ -n "$names_only" ]; then
    lists=$(echo "$lists" | sed 's/ partitioners//') # these are built in where found
    find_missing
    [ -n "$packages" ] || exit 0
    echo "Missing:$explanation" >&2
    echo "\`make run\` installs them on Debian and Ubuntu; by hand, as root: apt-get install$packages" >&2
    exit 1
fi

find_missing
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing, to be installed by hand on this system:$explanation" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "Missing:$explanation" >&2
    echo "Neither root nor sudo here; as root: apt-get install$packages" >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt()
{
    if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        echo "apt-get $1 failed" >&2
        exit 1
    fi
}

echo "installing:$packages" >&2
apt update
# shellcheck disable=SC2086
apt install --no-install-recommends $packages

find_missing
if [ -n "$packages" ]; then
    echo "Installed, and still not found:$explanation" >&2
    exit 1
fi
