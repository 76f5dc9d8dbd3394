# Several groups have one total: times, energies and bytes add up, late and dropped requests are counted anew, scores of scenarios are means; what is none of these has none, and the rest
# is told all the same.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

three_layers >net.csv
cat >list.yaml <<'YAML'
format: mercator-jobs/1
models:
  - {name: eyes, file: net.csv, fps: 200000, deadline: period, tenant: xr, dependencies: none}
  - {name: gaze, file: net.csv, fps: 200000, deadline: period, tenant: vr, dependencies: none}
groups: {size: 10}
horizon_ms: 0.03
YAML

# values METRIC: of the total, then of the groups.
values()
{
    grep -o '"best":{[^}]*}' out | sed -n "s/.*\"$1\":\(-\{0,1\}[0-9.eE+-]*\).*/\1/p"
}

# search OBJECTIVE [OPTION...]
search()
{
    objective=$1
    shift
    expect 0 "$MERCATOR" schedule list.yaml --objective "$objective" --budget 30 --quiet --no-report --json -o run --force "$@"
    test "$(grep -o '"feasible":true' out | wc -l)" -eq 5
    values cycles | awk 'NR == 1 { total = $1 } NR > 1 { sum += $1 } END { d = total - sum; exit !(NR == 5 && d * d < 1) }'
    values energy | awk 'NR == 1 { total = $1 } NR > 1 { sum += $1 } END { d = total - sum; exit !(NR == 5 && d * d < 1) }'
}

# counted REQUESTS: those of which a job ends late or never by the files, against the totals. Columns from the last: group,
# lateness, deadline, then release, energy, traffic, stall, time without stall, end.
counted()
{
    set -- "$1" "$(values miss_rate | head -n 1)" "$(values drop_rate | head -n 1)" "$(values violations | head -n 1)" \
        "$(values tardiness | head -n 1)"
    awk -F, -v wanted="$1" -v found="$2 $3 $4 $5" 'function far(a, b) { return (a - b) * (a - b) > 1e-18 * (1 + b * b) }
        NR > 1 && $(NF - 3) != "" {
            request = $1
            sub(/\..*/, "", request)
            all[request] = 1
            if ($(NF - 2) == "") dropped[request] = missed[request] = 1
            if ($(NF - 2) > 0) missed[request] = 1
            if ($(NF - 2) > late[request]) late[request] = $(NF - 2)
        }
        END {
            split(found, is, " ")
            for (r in all) a++
            for (r in missed) m++
            for (r in dropped) d++
            for (r in late) if (!(r in dropped)) sum += late[r] * 1e-9
            if (a == wanted && m > 0 && !far(is[1], m / a) && !far(is[2], d / a) && !far(is[3], m) && !far(is[4] * 1e6, sum * 1e6)) exit 0
            print "found " found ", by schedule.csv of " a ": late or dropped " m ", dropped " d + 0 ", tardiness " sum
            exit 1
        }' run/schedule.csv
}
# Twelve requests of three jobs each, in groups of ten jobs: some are cut.
search miss_rate
counted 12
values miss_rate | awk 'NR == 1 { exit !($1 > 0) }'
# Later groups are late because of those before, so what they must miss is no bound of the whole.
sed 's/"tasks":.*//' out >whole
says whole '"bound":{"value":null,"kind":"none"'
search drop_rate --late drop
counted 12
# The terminal says it of the whole, too.
percent()
{
    values "$1" | awk 'NR == 1 { form = $1 < 0.09995 ? "%.2f" : $1 < 0.9995 ? "%.1f" : "%.0f"; printf(form, 100 * $1) }'
}
missed=$(percent miss_rate)
dropped=$(percent drop_rate)
expect 0 "$MERCATOR" schedule list.yaml --objective drop_rate --budget 30 --late drop --quiet --no-report -o run --force
says out "$missed % of the requests late or dropped, tardiness "
says out ", $dropped % of the requests dropped"
search lateness
values lateness | awk 'NR == 1 { total = $1 } NR == 2 || (NR > 2 && $1 > most) { most = $1 } END { exit !(NR == 5 && total == most) }'

# No total, and a word why.
search jain
test "$(values jain | wc -l)" -eq 4
says out '"feasible":true,"reason":"it has no total over several tasks"'
expect 0 "$MERCATOR" schedule list.yaml --objective jain --budget 30 --quiet --no-report -o run --force
says out 'jain -, it has no total over several tasks;'
awk '$1 == "total" { exit !($5 == "-" && $6 > 0) }' out

# A cell that is read again is as it was.
expect 0 "$MERCATOR" schedule list.yaml --objective jain --budget 30 --quiet --no-report \
    --sweep memories.DRAM.bytes_per_cycle=4,8 -o cells
cp cells/sweep.csv first.csv
test "$(cut -d, -f 4 first.csv | grep -c '[0-9]')" -eq 2
expect 0 "$MERCATOR" schedule --resume cells --quiet --no-report
cmp cells/sweep.csv first.csv

# A total has the kind of bound of its groups, "mixed" if they have none in common. Here the first group is one job,
# for which all others wait: it is proven, they are not.
{
    printf 'format: mercator-jobs/1\ngroups: {size: 20}\njobs:\n  - {name: a, op: fc, dims: [64, 64]}\n'
    for size in 31 47 59 73 89 101 127 149 167 191 211 233; do
        echo "  - {name: b$size, op: gemm, dims: [$size, 64, $((1000 / size * 8))], after: [a]}"
    done
} >waiting.yaml
# kinds: those of the groups, then that of the total, as the table has them.
kinds()
{
    awk '/^group [0-9]/ || $1 == "total" { print $NF }' out | tr '\n' ' '
}
schedule()
{
    expect 0 "$MERCATOR" schedule waiting.yaml --quiet --no-report -o run --force "$@"
}
schedule --optimizer random --budget 40
kinds | awk '{ exit !($1 == "optimum" && $2 != "optimum" && $3 == "mixed") }'
says out '% infeasible, stopped by budget' # of the two reasons the one that left something open
schedule --optimizer fcfs --objective energy
test "$(kinds)" = 'optimum optimum optimum '
