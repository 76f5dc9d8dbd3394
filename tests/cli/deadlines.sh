# Deadlines in milliseconds, what a run says of the requests of each model, and models kept on cores.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >jobs.yaml <<'END'
format: mercator-jobs/1
models:
  - {name: cam, file: mobilenet_v2, fps: 30, deadline_ms: 20}
  - {name: det, file: alexnet, fps: 10, deadline_ms: [50, 80]}
jobs:
  - {name: extra, op: gemm, dims: [20, 768, 768], release_ms: 3, deadline_ms: 9}
horizon_ms: 300
END
expect 0 "$MERCATOR" schedule jobs.yaml --platform s2 --optimizer fcfs --quiet -o times
says out "cam: 9 requests, p50 "
says out "det: 3 requests, p50 "
says times/report.html "Requests by model"
# request 1 and, since the list ends, request 2 have 80 ms after their release; the single job has its own
says times/schedule.csv "lateness_cycles,group,request"
awk -F, '$2 == "\"cam\"" && $3 == 2 { if ($5 - $4 < 19.999 || $5 - $4 > 20.001) exit 1; n++ }
         $2 == "\"det\"" { want = $3 == 0 ? 50 : 80; if ($5 - $4 < want - 0.001 || $5 - $4 > want + 0.001) exit 1; n++ }
         $2 == "\"extra\"" { if ($4 != 3 || $5 != 9) exit 1; n++ }
         NR > 1 { d = $8 - ($5 - $6); if (d > 1e-6 || d < -1e-6) exit 1 }
         END { exit n != 5 }' times/requests.csv || { cat times/requests.csv >&2; exit 1; }
# By model: percentiles are those of the requests, nearest rank; JSON says the same.
awk -F, 'FNR == 1 { file++; next }
         file == 1 && $2 == "\"cam\"" { latency[++n] = $7 }
         file == 2 && $2 == "\"cam\"" {
             for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (latency[j] < latency[i]) {
                 swap = latency[i]; latency[i] = latency[j]; latency[j] = swap }
             seen = $3 == 9 && $4 == latency[5] && $5 == latency[9] && $6 == latency[9] }
         END { exit !seen }' times/requests.csv times/models.csv || { cat times/models.csv >&2; exit 1; }
p95=$(awk -F, '$2 == "\"cam\"" { print $5 }' times/models.csv)
says times/summary.json '"result":{"requests":[{"model":"cam","requests":9,"p50_ms":'
says times/summary.json "\"p95_ms\":$p95,"

# From the command line, for any workload; a deadline that nothing can keep is a miss.
expect 0 "$MERCATOR" schedule mobilenet_v2 alexnet --deadline-ms mobilenet_v2=0.001 --optimizer fcfs --json --quiet --no-report -o late
near "$(number out miss_rate)" 1 1e-9 "the only request with a deadline"
says late/requests.csv '"mobilenet_v2",0,0,0.001,'
expect 0 "$MERCATOR" evaluate late/schedule.yaml --json
near "$(number out miss_rate)" 1 1e-9 "as the plan file says"
expect 1 "$MERCATOR" schedule mobilenet_v2 alexnet --deadline-ms mobile=5
says err 'deadline_ms is "mobile=5", expected MS or MODEL=MS with mobilenet_v2 or alexnet'

# A model on one core, by name.
expect 0 "$MERCATOR" schedule mobilenet_v2 alexnet --fix 'unit.alexnet*=lb' --budget 100 --quiet --no-report -o pinned
awk -F, '$2 == "\"alexnet\"" && $5 != "\"lb\"" { exit 1 }' pinned/schedule.csv
expect 1 "$MERCATOR" schedule mobilenet_v2 --fix 'unit.*=gpu'
says err "cannot be fixed to gpu, expected one of hb0, hb1, hb2, lb"
expect 1 "$MERCATOR" schedule mobilenet_v2 --fix 'unit.x*=lb'
says err 'has no knob "unit.x*" to fix'

# What a file may not say.
sed 's/deadline_ms: 20/deadline_ms: 20, deadline: period/' jobs.yaml >both.yaml
expect 1 "$MERCATOR" schedule both.yaml
says err "either deadline or deadline_ms"
sed 's/release_ms: 3, deadline_ms: 9/release_ms: 3, deadline_ms: 1/' jobs.yaml >early.yaml
expect 1 "$MERCATOR" schedule early.yaml
says err "at least release_ms"
sed 's/\[50, 80\]/[]/' jobs.yaml >empty.yaml
expect 1 "$MERCATOR" schedule empty.yaml
says err "milliseconds after the release"

# An objective that does not look at deadlines is said to, and so is a platform without a clock.
expect 0 "$MERCATOR" schedule alexnet --platform s2 --deadline-ms 5 --budget 50 --quiet --no-report -o blind
says err 'objective cycles does not look at deadlines'
expect 0 "$MERCATOR" schedule alexnet --platform s2 --deadline-ms 5 --objective tardiness --budget 50 --quiet --no-report -o seeing
is_silent err
sed '/^clock_hz/d' "$MERCATOR_SOURCE_DIR/platforms/s2.yaml" >timeless.yaml
expect 0 "$MERCATOR" schedule alexnet --platform ./timeless.yaml --deadline-ms 5 --budget 50 --quiet --no-report -o timeless
says err 'the platform has no clock_hz: fps, releases and deadlines in ms'

# A model with one request and no deadline is in the files; it is no line, and no panel.
expect 0 "$MERCATOR" schedule alexnet --platform s1 --optimizer fcfs --quiet -o single
says single/models.csv '"alexnet","alexnet",1,'
says single/summary.json '"result":{"requests":[{"model":"alexnet","requests":1,'
lacks 'alexnet: 1 request' out
lacks 'Requests by model' single/report.html

# Percentiles are of the requests that ran, which is said where some were dropped.
cat >many.yaml <<'END'
format: mercator-jobs/1
models:
  - {name: cam, file: mobilenet_v2, fps: 1000, deadline_ms: 4}
horizon_ms: 20
END
expect 0 "$MERCATOR" schedule many.yaml --platform s1 --late drop --optimizer fcfs --quiet --no-report -o many
ran=$(awk -F, '$2 == "\"cam\"" { print $3 - $9 }' many/models.csv)
test "$ran" -gt 0 && test "$ran" -lt 20
says out "cam: 20 requests, of the $ran that ran p50 "
