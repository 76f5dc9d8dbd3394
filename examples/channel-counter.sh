#!/bin/sh
# A cost model for `mercator split` in a few lines of shell: a channel on unit NAME costs so many cycles, and channels add up.
#     mercator split resnet8 --platform diana --dataset digits8x8 --quick true --inner 'command:sh examples/channel-counter.sh digital=4 analog=1'
# docs/own-evaluator.md says what comes in and what goes out.
while read -r plan; do
    cycles=0
    for unit in "$@"; do
        key="\"${unit%%=*}\":"
        rest=$plan
        while [ "${rest#*"$key"}" != "$rest" ]; do
            rest=${rest#*"$key"}
            channels=${rest%%[,\}]*}
            cycles=$((cycles + channels * ${unit#*=}))
        done
    done
    echo "{\"cycles\": $cycles}"
done
