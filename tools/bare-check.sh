#!/bin/sh
# bare-check.sh [COMMAND...]: checks that Mercator builds and runs on a bare Debian 12 machine.
# Makes a chroot that has git, make and certificates and nothing else, clones the committed tree into
# it and runs the commands there (default: "make run" and "make test"). Needs root and debootstrap.
# The package mirror and its proxy are those of this machine's apt. BARE_FOLDER names the chroot
# (default: a new temporary folder); BARE_KEEP=1 leaves it in place.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- "make run" "make test"

for tool in debootstrap chroot unshare git apt-get; do
    command -v $tool >/dev/null || { echo "bare-check: $tool is missing" >&2; exit 1; }
done
if [ "$(id -u)" -ne 0 ]; then
    echo "bare-check: a chroot needs root" >&2
    exit 1
fi

folder=${BARE_FOLDER:-$(mktemp -d "${TMPDIR:-/tmp}/mercator-bare-XXXXXX")}
mkdir -p "$folder"
root=$(cd "$folder" && pwd)/root
if [ -e "$root" ]; then
    echo "bare-check: $root exists already; a bare machine is a new one" >&2
    exit 1
fi
[ "${BARE_KEEP:-}" = 1 ] || trap 'rm -rf "$root"; rmdir "$folder" 2>/dev/null || true' EXIT

# Debian's own archives as this machine's apt knows them: "site release component" lines.
archives=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | grep ' bookworm' | sort -u)
mirror=$(printf '%s\n' "$archives" | awk '$2 == "bookworm" { print $1; exit }')
if [ -z "$mirror" ]; then
    echo "bare-check: apt knows no Debian 12 (bookworm) archive; run apt-get update" >&2
    exit 1
fi

echo "bare-check: making a Debian 12 in $root"
if ! debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" "$mirror" \
    >"$folder/debootstrap.log" 2>&1; then
    cat "$folder/debootstrap.log" >&2
    exit 1
fi
rm -f "$folder/debootstrap.log"
printf '%s\n' "$archives" | sed 's/^/deb /' >"$root/etc/apt/sources.list"
apt-config dump --no-empty | grep -i '^Acquire::[a-z]*::Proxy' >"$root/etc/apt/apt.conf.d/proxy" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
git clone -q --no-hardlinks . "$root/srv/mercator"

# `times` prints the processor's time of the shell and, below it, of what it ran: user and system.
# The mounts live in a namespace of their own and go away with it.
for command in "$@"; do
    echo "bare-check: $command"
    started=$(date +%s)
    unshare --mount sh -c '
        mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
        exec chroot "$1" env -i HOME=/srv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
            sh -c "cd /srv/mercator && { $2; }; code=\$?; times; exit \$code"' sh "$root" "$command" </dev/null
    echo "bare-check: $command passed in $(($(date +%s) - started)) s"
done
