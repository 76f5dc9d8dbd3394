# What `cmake --install` lays down is enough to build and run a program of one's own, by the flags of pkg-config
# alone: with the shared library, and with the static one.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

expect 0 cmake --install "$MERCATOR_BUILD_DIR" --prefix "$PWD/prefix"
pc=$(dirname "$(find prefix -name mercator.pc)")
PKG_CONFIG_PATH=$PWD/$pc
export PKG_CONFIG_PATH
# Our headers and nobody else's: what the library is made with is no business of those who use it.
test "$(pkg-config --cflags mercator | tr ' ' '\n' | grep -c .)" -eq 1
case $(pkg-config --cflags mercator) in
-I*/prefix/*include*) ;;
*) echo "pkg-config --cflags gives $(pkg-config --cflags mercator)" >&2; exit 1 ;;
esac
# The manual page and the completions, without any other tool at hand.
test -s prefix/share/man/man1/mercator.1
bash -n prefix/share/bash-completion/completions/mercator
says prefix/share/zsh/site-functions/_mercator '#compdef mercator'

# ldconfig is run where the linker's cache covers the folder, and not for a package. A stand-in says which folders it
# covers and keeps how it was called.
libdir=$(cd "$(dirname "$pc")" && pwd)
mkdir -p bin
cat >bin/ldconfig <<SH
#!/bin/sh
echo "ldconfig \$*" >>"$PWD/calls"
echo "\$MERCATOR_TEST_FOLDER: (from a test)"
SH
chmod +x bin/ldconfig
install="cmake --install $MERCATOR_BUILD_DIR --prefix $PWD/prefix"
if ls "$libdir"/libmercator.so >/dev/null 2>&1; then
    expect 0 env PATH="$PWD/bin:$PATH" MERCATOR_TEST_FOLDER=/nowhere $install
    says out 'is none of the dynamic linker'
    lacks '^ldconfig $' calls
    expect 0 env PATH="$PWD/bin:$PATH" MERCATOR_TEST_FOLDER="$libdir" $install
    grep -qx 'ldconfig ' calls
    rm calls
    expect 0 env PATH="$PWD/bin:$PATH" MERCATOR_TEST_FOLDER="$libdir" DESTDIR="$PWD/package" $install
    test ! -e calls
fi

flags="-std=c11 -Wall -Wextra -Wpedantic -Werror $MERCATOR_TEST_FLAGS $(pkg-config --cflags mercator)"

# Every public header can be included alone.
for header in prefix/include/mercator/*.h; do
    printf '#include <mercator/%s>\ntypedef int Nothing;\n' "${header##*/}" >alone.c
    expect 0 "$CC" $flags -fsyntax-only alone.c
done

cat >search.c <<'C'
#include <mercator/registry.h>
#include <mercator/run.h>
#include <stdio.h>

int main(void)
{
    MerArena    *arena = mer_arena_new();
    MerError     error = {0};
    MerRunSpec   spec = {.name = "net", .seed = 3, .budget = 500, .threads = 2};
    MerRunResult result;
    MerGraph    *graph = NULL;
    spec.problem = mer_problem_find("map", &error);
    spec.evaluator = mer_evaluator_find("loopnest", &error);
    spec.optimizer = mer_optimizer_find("annealing", &error);
    if (mer_graph_import("net.csv", NULL, arena, &graph, &error) != MER_OK ||
        mer_platform_read("s256", arena, &spec.platform, &error) != MER_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    spec.graph = graph;
    if (mer_run(&spec, NULL, arena, &result, &error) != MER_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("\"score\":%.17g\n", result.tasks[result.task_count - 1].score);
    mer_arena_free(arena);
    return 0;
}
C
three_layers >net.csv
MERCATOR_DATA=$PWD/prefix/share/mercator
export MERCATOR_DATA
expect 0 prefix/bin/mercator map net.csv --seed 3 --budget 500 --optimizer annealing --platform s256 --quiet --json --no-report -o run
score=$(number out score) # of the last task

libdir=$(pkg-config --variable=libdir mercator)
if ls "$libdir"/libmercator.so >/dev/null 2>&1; then
    expect 0 "$CC" $flags search.c $(pkg-config --libs mercator) -o search-shared
    expect 0 readelf -d search-shared
    says out '[libmercator.so.'
    expect 0 env LD_LIBRARY_PATH="$libdir" ./search-shared
    near "$(number out score)" "$score" 1e-12 'score by the shared library'
    rm "$libdir"/libmercator.so*
fi
expect 0 "$CC" $flags search.c $(pkg-config --static --libs mercator) -o search-static
expect 0 ./search-static
near "$(number out score)" "$score" 1e-12 'score by the static library'
