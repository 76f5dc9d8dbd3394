# Turns a file into C: `const unsigned char NAME[]` and `const size_t NAME_size`.
# Run as: cmake -D INPUT=file -D OUTPUT=file.c -D NAME=identifier -P embed.cmake
# A 0 byte that does not count follows the data, so that text can be used as a string.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUTPUT}"
    "#include <stddef.h>\n\n"
    "extern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_size;\n\n"
    "const unsigned char ${NAME}[] = {\n${bytes}0};\nconst size_t ${NAME}_size = ${size};\n")
