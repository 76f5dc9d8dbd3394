# `make build` names what is missing, with the packages, and installs nothing.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
mkdir -p tree/tools
cp "$MERCATOR_SOURCE_DIR/Makefile" tree/
cp -r "$MERCATOR_SOURCE_DIR/tools/packages" "$MERCATOR_SOURCE_DIR/tools/install-packages.sh" tree/tools/
printf '%s\n' '#!/bin/sh' 'echo "configure: something is wrong" >&2' 'exit 1' >tree/tools/configure.sh

# Nothing is missing here (the program was built), whatever is missing of what is built in where found.
expect 0 sh tree/tools/install-packages.sh --name run
is_silent err
echo 'libnowhere-dev pkg-config nowhere' >>tree/tools/packages/partitioners.txt
expect 0 sh tree/tools/install-packages.sh --name run

echo 'libnothing-dev pkg-config nothing-of-that-name' >>tree/tools/packages/run.txt
expect 1 sh tree/tools/install-packages.sh --name run
says err 'nothing-of-that-name (pkg-config; Debian package libnothing-dev)'
says err 'make run'
says err 'apt-get install libnothing-dev'
expect 2 make -C tree build
says err 'configure: something is wrong'
says err 'Debian package libnothing-dev'
expect 2 sh tree/tools/install-packages.sh --name everything
