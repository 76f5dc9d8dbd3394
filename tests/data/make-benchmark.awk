# awk -f make-benchmark.awk >own-benchmark.json: layers and groups of jobs of our own making, drawn by a
# Park-Miller generator, in the form of M3E's benchmark: 60 layers, four tasks of two groups of 60 jobs.
function draw(count)
{
    state = (state * 16807) % 2147483647
    return state % count
}
function of(list,    parts, count)
{
    count = split(list, parts, " ")
    return parts[1 + draw(count)]
}
function add(row) # says whether it is a new one
{
    if (row in seen) {
        return 0
    }
    seen[row] = 1
    printf "%s  {\"raw\":[%s]}", layers++ ? ",\n" : "", row
    return 1
}
function groups(name, first, count,    g, j)
{
    printf "%s  \"%s\":{\"groups\":[", tasks++ ? ",\n" : "", name
    for (g = 0; g < 2; g++) {
        printf "%s[", g ? "],\n    " : ""
        for (j = 0; j < 60; j++) {
            printf "%s%d", j ? "," : "", first + draw(count)
        }
    }
    printf "]]}"
}
BEGIN {
    state = 20261115
    print "{\"format\":\"m3e-benchmark/1\",\"layer_columns\":[\"K\",\"C\",\"Y\",\"X\",\"R\",\"S\",\"T\"],"
    print "\"layer_table\":["
    for (i = 0; i < 20; i += add(row)) { # images: K, C, input rows and columns, filter
        filter = of("1 1 3 3 5")
        side = of("7 14 28 56") + filter - 1
        row = of("24 40 64 96 160 256") "," of("16 24 48 80 128 192") "," side "," side "," filter "," filter ",1"
    }
    for (i = 0; i < 4; i += add(row)) { # depthwise
        side = of("14 28 56") + 2
        row = "1," of("24 72 120 240") "," side "," side ",3,3,2"
    }
    for (i = 0; i < 18; i += add(row)) { # text: M, N, K
        row = of("24 48") "," of("192 320 640 1280 2560") "," of("160 320 640 1920") ",1,1,1,3"
    }
    for (i = 0; i < 18; i += add(row)) { # clicks: outputs, inputs
        row = of("12 24 48 120 240 480 960") "," of("40 80 160 400 800 1600") ",1,1,1,1,0"
    }
    print "],\n\"tasks\":{"
    groups("images", 0, 24)
    groups("text", 24, 18)
    groups("clicks", 42, 18)
    groups("blend", 0, 60)
    print "}}"
}
