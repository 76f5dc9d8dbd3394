# The includes of the project point one way, and the check sees every direction that is forbidden.
set -eu
check=$MERCATOR_SOURCE_DIR/tools/check_includes.sh
wings='map schedule codesign place split'
below='base graph hw space layer import tensor learn'
above='opt run report cli'

mkdir -p tree/include/mercator tree/src
: >expected

# plant FILE TARGET [MESSAGE]: FILE of the tree includes TARGET, which is refused with MESSAGE, or accepted without.
plant()
{
    mkdir -p "tree/$(dirname "$1")"
    [ -e "tree/$1" ] || echo '#include <stdio.h>' >"tree/$1"
    printf '#include %s\n' "$2" >>"tree/$1"
    [ $# -eq 2 ] || printf '%s:%d: %s\n' "$1" "$(wc -l <"tree/$1")" "$3" >>expected
}

# forbid FROM TO: no file of FROM, in whatever folder of it, includes a header of TO.
forbid()
{
    plant "src/$1/forbidden.c" "\"$2/thing.h\"" "\"$2/thing.h\": $1 may not include $2"
    plant "src/$1/deep/er/forbidden.h" "\"$2/sub/thing.h\"" "\"$2/sub/thing.h\": $1 may not include $2"
    plant "src/$1/angle.c" "<$2/thing.h>" "\"$2/thing.h\": $1 may not include $2"
}

# The rule of the wings, each direction of it.
for wing in $wings; do
    for layer in $above; do
        forbid "$layer" "$wing"
        forbid "$wing" "$layer"
    done
    for layer in $below; do
        forbid "$layer" "$wing"
        plant "src/$wing/allowed.c" "\"$layer/thing.h\""
    done
    for other in $wings; do
        [ "$other" = "$wing" ] || forbid "$wing" "$other"
    done
    plant "src/$wing/cost/allowed.c" "\"$wing/solve/thing.h\""
    for header in plan problem evaluator platform graph space; do
        plant "src/$wing/allowed.c" "<mercator/$header.h>"
    done
    plant src/registry.c "\"$wing/$wing.h\""
    plant "src/$wing/registry.c" '"opt/thing.h"' "\"opt/thing.h\": $wing may not include opt" # not the registry
done
for layer in $below $above; do
    plant src/registry.c "\"$layer/thing.h\""
done

# The order below the wings: each layer sees those on its own line and none of the others.
order()
{
    from=$1
    for to in $below $above; do
        case " $* " in
        *" $to "*) plant "src/$from/order.c" "\"$to/thing.h\"" ;;
        *) plant "src/$from/order.c" "\"$to/thing.h\"" "\"$to/thing.h\": $from may not include $to" ;;
        esac
    done
}
order base
order graph base
order hw base
order space base graph
order layer base graph hw space
order import base graph
order tensor base
order learn base tensor
order opt base graph space tensor learn
order run base graph hw space tensor learn import
order report base
order cli base graph hw space tensor learn import run report

# Optimizers see spaces, never plans, machines or cost models; neither directly nor through a header.
for header in plan problem evaluator; do
    plant src/opt/public.c "<mercator/$header.h>" "\"mercator/$header.h\": opt may not include contract"
    plant src/run/public.c "\"mercator/$header.h\""
done
plant src/opt/public.c '"mercator/platform.h"' '"mercator/platform.h": opt may not include hw'
plant src/opt/public.c '"mercator/search.h"'
plant include/mercator/space.h '"mercator/platform.h"' '"mercator/platform.h": space may not include hw'
plant include/mercator/search.h '"mercator/problem.h"' '"mercator/problem.h": space may not include contract'
plant include/mercator/problem.h '"mercator/search.h"'

# Single headers, and what is no header of the project.
plant src/report/pages/html.c '"run/log/runlog.h"'
plant src/report/pages/html.c '"run/search/search.h"' '"run/search/search.h": report may not include run'
plant src/report/pages/html.c '"mercator/metric.h"'
plant src/report/pages/html.c '"mercator/run.h"' '"mercator/run.h": report may not include run'
plant src/hw/reader.c '"mercator/graph.h"'
plant src/base/text.c '"mercator/graph.h"' '"mercator/graph.h": base may not include graph'
plant src/import/onnx/onnx.c '"onnx.pb-c.h"'
plant src/graph/graph.c '"onnx.pb-c.h"' '"onnx.pb-c.h": graph may not include import'
plant src/graph/graph.c '"../base/json.h"' '"../base/json.h": expected a path from src/ or include/, without ..'
plant src/graph/graph.c '"nowhere.h"' '"nowhere.h": no such header in this folder, nor a folder of src/'
plant src/graph/beside.h '"mercator/graph.h"'
plant src/graph/graph.c '"beside.h"'
plant src/graph/graph.c '"mercator/unheard.h"' '"mercator/unheard.h": no layer is known for this public header'
plant include/mercator/space.h '"base/json.h"' '"base/json.h": a public header includes only public headers'
mkdir -p tree/src/unheard
echo >tree/src/unheard/file.c
echo 'src/unheard/file.c:1: no layer is known for this file: add it to the table in tools/check_includes.sh' >>expected

code=0
sh "$check" tree >found || code=$?
sort -o expected expected
sort -o found found
if [ "$code" -ne 1 ] || ! cmp -s expected found; then
    echo "expected exit code 1, found $code; refused in vain (>) or not at all (<):" >&2
    diff expected found >&2 || true
    exit 1
fi
test "$(wc -l <expected)" -ge 300 # the loops did run

# The project itself.
if ! sh "$check" "$MERCATOR_SOURCE_DIR"; then
    echo "expected no include of the project to point the wrong way" >&2
    exit 1
fi
