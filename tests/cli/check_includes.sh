# The includes of the project point one way, and the check sees those that do not.
set -eu
check=$MERCATOR_SOURCE_DIR/tools/check_includes.sh

if ! sh "$check" "$MERCATOR_SOURCE_DIR"; then
    echo "expected no include of the project to point the wrong way" >&2
    exit 1
fi

# refuses FILE TARGET MESSAGE: a tree whose FILE includes TARGET is refused with MESSAGE.
refuses()
{
    rm -rf tree
    mkdir -p tree/include/mercator tree/src "tree/$(dirname "$1")"
    printf '#include <stdio.h>\n#include %s\n' "$2" >"tree/$1"
    if sh "$check" tree >found; then
        echo "expected $1 with #include $2 to be refused" >&2
        exit 1
    fi
    if ! grep -qF "$1:2: $3" found; then
        echo "expected '$1:2: $3', found:" >&2
        cat found >&2
        exit 1
    fi
}

# accepts FILE TARGET: a tree whose FILE includes TARGET passes.
accepts()
{
    rm -rf tree
    mkdir -p tree/include/mercator "tree/$(dirname "$1")"
    printf '#include %s\n' "$2" >"tree/$1"
    if ! sh "$check" tree; then
        echo "expected $1 with #include $2 to pass" >&2
        exit 1
    fi
}

refuses src/base/text.c '"mercator/graph.h"' '"mercator/graph.h": base may not include graph'
refuses src/opt/random.c '"mercator/platform.h"' '"mercator/platform.h": opt may not include hw'
refuses src/opt/random.c '<mercator/plan.h>' '"mercator/plan.h": opt may not include problem'
refuses src/opt/random.c '"mercator/evaluator.h"' '"mercator/evaluator.h": opt may not include cost'
refuses src/opt/random.c '"solve/lpt.h"' '"solve/lpt.h": opt may not include solve'
refuses src/cost/soc.c '"opt/ppo.h"' '"opt/ppo.h": cost may not include opt'
refuses src/map/map.c '"cost/loopnest.h"' '"cost/loopnest.h": problem may not include cost'
refuses src/space/space.c '"mercator/platform.h"' '"mercator/platform.h": space may not include hw'
refuses src/schedule/solve/lpt.c '"opt/random.h"' '"opt/random.h": solve may not include opt'
refuses src/run/search/task_loop.c '"report/html.h"' '"report/html.h": run may not include report'
refuses src/report/pages/html.c '"run/search.h"' '"run/search.h": report may not include run'
refuses src/import/deep/onnx.c '"hw/reader.h"' '"hw/reader.h": import may not include hw'
refuses src/hw/reader.c '"graph/derive.h"' '"graph/derive.h": hw may not include graph'
refuses src/graph/graph.c '"onnx.pb-c.h"' '"onnx.pb-c.h": graph may not include import'
refuses src/graph/graph.c '"../base/json.h"' '"../base/json.h": expected a path from src/'
refuses src/graph/graph.c '"nowhere.h"' '"nowhere.h": no such header'
refuses src/graph/graph.c '"mercator/unheard.h"' '"mercator/unheard.h": no layer is known'
refuses include/mercator/space.h '"mercator/platform.h"' '"mercator/platform.h": space may not include hw'
refuses include/mercator/space.h '"base/json.h"' '"base/json.h": a public header includes only public'

accepts src/opt/random.c '"mercator/search.h"'
accepts src/schedule/solve/lpt.c '"mercator/evaluator.h"'
accepts src/report/pages/html.c '"run/runlog.h"'
accepts src/hw/reader.c '"mercator/graph.h"'
accepts src/import/onnx/onnx.c '"onnx.pb-c.h"'
accepts src/registry.c '"opt/random.h"'
accepts src/cli/main.c '"deploy/c_source.h"'
