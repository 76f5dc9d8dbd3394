# completion: the script of bash offers verbs, flags, and what may stand behind them; that of zsh is the same inside.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
expect 0 "$MERCATOR" completion bash
mv out script.bash

# offers WORD... : the last of them is completed; `out` has what is offered.
offers()
{
    expect 0 bash -c '. ./script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mercator; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
# has WORD..., lacks WORD...: lines of `out`.
has()
{
    for word in "$@"; do
        grep -qx -- "$word" out || { echo "$word is not offered:" >&2; cat out >&2; exit 1; }
    done
}
lacks()
{
    for word in "$@"; do
        ! grep -qx -- "$word" out || { echo "$word is offered" >&2; exit 1; }
    done
}

offers mercator ''
has map schedule compare completion help
offers mercator co
has codesign compare completion
lacks map
offers mercator map res
has resnet18 resnet50
offers mercator map --
has --platform --budget --total-time --gap --select --save-policy --tune --help-all
offers mercator map --optimizer ''
has annealing exact_nest
lacks lpt # of another problem
offers mercator schedule --optimizer l
has lpt list_annealing
offers mercator map resnet18 --dataflow ''
has none weight output row
offers mercator map resnet18 --platform '='  # --platform=
offers mercator map resnet18 --objective = en
has energy
offers mercator map --platform s2
has s2 s256
offers mercator list ''
has models solvers metrics
offers mercator list optimizers ann
has annealing
offers mercator evaluate --
has --mapping --json --quantise
mkdir -p stopped
offers mercator map resnet18 --resume ''
has stopped
lacks resnet18
offers mercator map resnet18
test "$(grep -c . out)" -eq 1 # of two endings
: >own.onnx
offers mercator map ow
has own.onnx

# Every flag that the help of a verb shows is offered.
expect 0 "$MERCATOR" --help
for verb in $(sed -n 's/^  \([a-z]*\)  .*  .*/\1/p' out); do
    expect 0 "$MERCATOR" "$verb" --help-all
    # only those that begin a line or stand in the line of usage: others are named in passing
    sed -n 's/^  \(--[a-z][a-z-]*\).*/\1/p; s/\[/\n/gp' out | grep -o -- '^--[a-z][a-z-]*' | sort -u >flags || true
    offers mercator "$verb" --
    while read -r flag; do
        has "$flag"
    done <flags
done

expect 0 "$MERCATOR" completion zsh
mv out script.zsh
head -n 1 script.zsh | grep -qx '#compdef mercator'
for script in script.bash script.zsh; do
    sed -n '/^_mercator_offer/,/^}/p' "$script" >"$script.inside"
done
cmp script.bash.inside script.zsh.inside
if command -v zsh >/dev/null; then
    expect 0 zsh -n script.zsh
fi

expect 0 "$MERCATOR" completion --help
says out 'usage: mercator completion bash|zsh'
expect 2 "$MERCATOR" completion
expect 2 "$MERCATOR" completion fish
says err 'expected bash or zsh'
