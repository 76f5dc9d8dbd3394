#!/bin/sh
# Rebuilds dist/report.html from the locked packages; the result is the same byte for byte.
set -eu
cd "$(dirname "$0")"
npm ci --ignore-scripts
node bundle.mjs
