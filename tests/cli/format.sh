# Every C file has the layout that .clang-format describes; tables by hand stand under `clang-format off`.
set -eu
if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    echo "skipped: clang-format 14 is not installed"
    exit 77
fi
cd "$MERCATOR_SOURCE_DIR"
find include src tests bench -name '*.[ch]' -exec clang-format --dry-run -Werror {} +
