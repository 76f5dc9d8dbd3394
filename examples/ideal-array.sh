#!/bin/sh
# A cost model in a few lines: every multiplication takes one cycle of one multiplier, nothing else takes time, and each costs 0.5 pJ.
# mercator map resnet18 --evaluator 'command:sh examples/ideal-array.sh' --objective cycles
while read -r line; do
    printf '%s\n' "$line" | awk '{
        rest = $0
        macs = 1
        while (match(rest, /"[KCYXRS]":[0-9]+/)) { # sizes of the layer
            macs *= substr(rest, RSTART + 4, RLENGTH - 4)
            rest = substr(rest, RSTART + RLENGTH)
        }
        rest = $0
        units = 1
        while (match(rest, /"[xy]":\[[^]]*\]/)) { # loops that run side by side: ["K4","C2"]
            list = substr(rest, RSTART + 5, RLENGTH - 6)
            rest = substr(rest, RSTART + RLENGTH)
            count = split(list, factors, ",")
            for (i = 1; i <= count; i++) {
                units *= substr(factors[i], 3) + 0
            }
        }
        printf "{\"cycles\": %.0f, \"energy\": %.1f}\n", macs / units, macs * 0.5
    }'
done
