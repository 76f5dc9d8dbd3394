#!/bin/sh
# record.sh PROGRAM: makes the files of our own jobs anew, beside this file (README.md has more).
set -e
program=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -f make-benchmark.awk >own-benchmark.json
jq -r '.layer_table[].raw | "1,1," + (map(tostring) | join(","))' own-benchmark.json >"$work/layers.csv"
{
    printf 'format: mercator-platform/1\nkind: cores\nclock_hz: 1G\nword_bits: 8\n'
    printf 'memories: [{name: DRAM, bytes_per_cycle: 16}]\nclasses:\n'
    for style in HB:nvdla shi:shi eye:eye; do
        for rows in 32 64 128; do
            echo "  ${style%:*}$rows: {rows: $rows, columns: 64, dataflow: ${style#*:}}"
        done
    done
    echo 'units:'
    for class in HB32 HB64 HB128 shi32 shi64 shi128 eye32 eye64 eye128; do
        echo "  - {name: $class, class: $class}"
    done
} >"$work/nine.yaml"

# table MODE COLUMN...: those columns of the job table of all layers on nine kinds of cores, a line per layer.
table()
{
    mode=$1
    shift
    "$program" schedule "$work/layers.csv" --platform "$work/nine.yaml" --table "$mode" --cache off \
        --optimizer fcfs --quiet --no-report -o "$work/$mode" >/dev/null
    jq -r --args '. as {columns: $all} | [$ARGS.positional[] | . as $name | $all | index($name)] as $picked
        | "{\"format\":\"m3e-jobtable/1\",\"source\":\(.source | tojson),\"columns\":\($ARGS.positional | tojson),"
        + "\"core_types\":\(.core_types | tojson),\"rows\":[\n"
        + ([.rows[] | [.[] | [.[$picked[]]]] | tojson] | join(",\n")) + "\n]}"' "$@" <"$work/$mode/jobtable.json"
}
table m3e-compat latency_cycles l2_bytes l1_bytes energy_nJ macs >own-jobtable.json
table own latency_cycles traffic_bytes weight_bytes output_bytes energy_pj >own-jobtable-traffic.json

# What the program's own searches give on the points: means, least and largest of five seeds for MAGMA, the
# mean of two for the default. The other columns of own-points.json stay.
cycles()
{
    "$program" schedule own-benchmark.json --select "$task:0" --platform "$platform" --bandwidth "$bandwidth" \
        --table own-jobtable.json --cache off --optimizer "$1" --seed "$2" --budget "$3" --no-report --json \
        --log improving -o "$work/run" 2>/dev/null
}
several()
{
    optimizer=$1 budget=$2
    shift 2
    for seed; do
        cycles "$optimizer" "$seed" "$budget" | jq -r .best.cycles
    done | jq -cs '[add / length, min, max]'
}
jq -r '.rows[] | [.task, .setting, .bw] | @tsv' own-points.json | while read -r task setting bandwidth; do
    platform=s${setting#S}
    jq -cn --argjson list "$(for name in herald_like aimt_like lp_round; do
        cycles $name 1 1 | jq -c "{$name: .best.cycles}"
    done | jq -cs add)" --argjson bound "$(cycles lpt 1 1 | jq -c '{bound: .bound.value, bound_kind: .bound.kind}')" \
        --argjson shipped "$(several magma:rules=shipped 2100 1 2 3 4 5)" \
        --argjson paper "$(several magma:rules=paper 2000 1 2 3 4 5)" \
        --argjson annealing "$(several list_annealing 10500 1 2)" \
        --argjson long "$(several list_annealing 60000 1)" \
        '$bound + $list + {ga_shipped: $shipped, ga_described: $paper, sa_lpt: $annealing, sa_100k: $long[0]}'
done >"$work/columns"
for point in images:S2:16 text:S5:1 blend:S4:16; do
    task=${point%%:*} rest=${point#*:}
    setting=${rest%:*} bandwidth=${rest#*:}
    platform=s${setting#S}
    cycles magma:rules=shipped 1 10500 | jq -c --arg task "$task" --arg setting "$setting" --argjson bw "$bandwidth" \
        '{task: $task, setting: $setting, bw: $bw, seed: 1, evals: 10500, best: .best.cycles}'
done >"$work/runs"
jq -rn --slurpfile old own-points.json --slurpfile columns "$work/columns" --slurpfile runs "$work/runs" '
    "{\"format\":\"m3e-results/1\",\"rows\":[\n"
    + ([$old[0].rows, $columns] | transpose | map(add | tojson) | join(",\n"))
    + "\n],\"runs\":[\n" + ($runs | map(tojson) | join(",\n")) + "\n]}"' >"$work/points"
mv "$work/points" own-points.json
