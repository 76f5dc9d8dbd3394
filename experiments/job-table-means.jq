# Of a job analysis table, by core class: mean no-stall cycles and mean bytes per cycle of its distinct layers,
# cycles of the longest, and its name.
#   jq -rf experiments/job-table-means.jq RUN/jobtable.json
.columns as $names | .core_types as $classes | .rows as $rows | .layers as $layers | .source as $source
| ($names | index("latency_cycles")) as $cycles | ($names | index("traffic_bytes")) as $traffic
| ($names | index("l2_bytes")) as $tile
| range($classes | length) as $class
| [$rows[][$class]
   | {cycles: .[$cycles],
      rate: (if $source == "m3e-compat" then .[$tile] / 2 / (.[$cycles] - 1) else .[$traffic] / .[$cycles] end)}]
| (map(.cycles) | max) as $longest
| [$classes[$class], (map(.cycles) | add / length | round), (map(.rate) | add / length * 100 | round / 100),
   $longest, $layers[map(.cycles) | index($longest)]] | @tsv
