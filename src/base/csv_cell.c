#include "base/csv_cell.h"

void mer_csv_cell(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    }
    fputc('"', file);
}
