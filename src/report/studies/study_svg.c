/* The curves of a study as one picture. */
#include "report/studies/study_stats.h"

#include "base/output.h"

#include <math.h>

enum { WIDTH = 900, HEIGHT = 460, LEFT = 78, RIGHT = 270, TOP = 44, BOTTOM = 52, STEPS = 160 };

enum { BANDS_MOST = 6 }; /* methods whose quartiles are drawn: more of them hide the curves */

static const char *const colors[] = {"#33689e", "#c4752d", "#3f8a6d", "#9a5a97",
                                     "#b04a4a", "#8c8c2b", "#2f8793", "#7d6a52"};
static const char *const dashes[] = {"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\""};

typedef struct Frame {
    double most_samples, most_gap, least_gap;
} Frame;

typedef struct Band {
    double low, median, high; /* gaps: ratio to the best known - 1 */
} Band;

static double place_x(const Frame *frame, double samples)
{
    return LEFT + log(samples) / log(frame->most_samples) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const Frame *frame, double gap)
{
    double share = log(fmin(fmax(gap, frame->least_gap), frame->most_gap) / frame->least_gap) /
                   log(frame->most_gap / frame->least_gap);
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

/* Over the tasks, of the medians of the seeds. */
static Band band_at(const MerStudyGroup *group, int method, int64_t samples, double *values)
{
    for (int t = 0; t < group->task_count; t++) {
        double score = mer_cell_median(mer_study_cell(group, t, method), samples);
        values[t] = mer_study_ratio(score, group->tasks[t].best) - 1;
    }
    double quartiles[3];
    for (int q = 0; q < 3; q++) {
        double value = mer_quantile(values, group->task_count, 0.25 * (q + 1));
        quartiles[q] = isnan(value) ? INFINITY : value;
    }
    return (Band){quartiles[0], quartiles[1], quartiles[2]};
}

static void write_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '&') {
            fputs(*text == '<' ? "&lt;" : "&amp;", file);
        } else {
            fputc(*text, file);
        }
    }
}

static void write_axes(FILE *file, const Frame *frame)
{
    static const char *const prefixes[] = {"", "k", "M", "G"};
    for (double x = 1; x <= frame->most_samples; x *= 10) {
        int step = (int)(log10(x) / 3 + 1e-9);
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", place_x(frame, x), TOP,
                HEIGHT - BOTTOM);
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f %s</text>\n",
                place_x(frame, x), HEIGHT - BOTTOM + 18, x / pow(1000, step),
                prefixes[step < 3 ? step : 3]);
    }
    for (double y = frame->least_gap; y <= frame->most_gap * 1.001; y *= 10) {
        double at = place_y(frame, y);
        fprintf(file, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
        fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g %%</text>\n", LEFT - 8,
                at + 4, y * 100);
    }
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">samples</text>\n", WIDTH - RIGHT,
            HEIGHT - 14);
}

static void write_band(FILE *file, const Frame *frame, const Band *bands, const double *x,
                       int count, const char *color)
{
    for (int i = 0; i < count; i++) {
        fprintf(file, i ? "L%.1f %.1f" : "<path class=\"band\" d=\"M%.1f %.1f", x[i],
                place_y(frame, bands[i].low));
    }
    for (int i = count - 1; i >= 0; i--) {
        fprintf(file, "L%.1f %.1f", x[i], place_y(frame, bands[i].high));
    }
    fprintf(file, "Z\" fill=\"%s\"/>\n", color);
}

static void write_method(FILE *file, const Frame *frame, const MerStudyGroup *group, int method,
                         double *values)
{
    size_t      kinds = sizeof colors / sizeof *colors;
    const char *color = colors[(size_t)method % kinds];
    const char *dash = dashes[(size_t)method / kinds % (sizeof dashes / sizeof *dashes)];
    double      last = (double)mer_method_until(group, method);
    Band        bands[STEPS];
    double      x[STEPS];
    int         count = 0;
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)llround(pow(last, (double)i / (STEPS - 1)));
        Band    band = band_at(group, method, at, values);
        if (isfinite(band.median)) {
            x[count] = place_x(frame, (double)at);
            bands[count++] = band;
        }
    }
    if (count > 0 && group->method_count <= BANDS_MOST) {
        write_band(file, frame, bands, x, count, color);
    }
    for (int i = 0; i < count; i++) {
        fprintf(file, i ? "L%.1f %.1f" : "<path class=\"curve\" d=\"M%.1f %.1f", x[i],
                place_y(frame, bands[i].median));
    }
    if (count > 0) {
        fprintf(file, "\" stroke=\"%s\"%s/>\n", color, dash);
    }
    int y = TOP + 8 + method * 20;
    fprintf(file, "<path class=\"curve\" d=\"M%d %dh22\" stroke=\"%s\"%s/><text x=\"%d\" y=\"%d\">",
            WIDTH - RIGHT + 14, y, color, dash, WIDTH - RIGHT + 42, y + 4);
    write_text(file, group->methods[method].name);
    fputs("</text>\n", file);
}

static Frame measure(const MerStudyGroup *group, double *values)
{
    Frame frame = {10, 0.1, 1e-3};
    for (int m = 0; m < group->method_count; m++) {
        int64_t last = mer_method_until(group, m);
        frame.most_samples = fmax(frame.most_samples, (double)last);
        for (int64_t at = 1; at <= last; at *= 2) {
            double gap = band_at(group, m, at, values).median;
            frame.most_gap = isfinite(gap) ? fmax(frame.most_gap, gap) : frame.most_gap;
        }
    }
    frame.most_gap = fmin(pow(10, ceil(log10(frame.most_gap))), 10); /* beyond it nothing is near */
    return frame;
}

MerStatus mer_study_svg(const MerStudyGroup *group, const char *path, MerArena *arena,
                        MerError *error)
{
    MerOutput output;
    MER_TRY(mer_output_open(&output, path, error));
    double *values = MER_ARRAY(arena, double, group->task_count + 1);
    Frame   frame = measure(group, values);
    int     height =
        TOP + 24 + group->method_count * 20 > HEIGHT ? TOP + 24 + group->method_count * 20 : HEIGHT;
    fprintf(output.file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\">\n"
            "<style>text{font:12px "
            "sans-serif;fill:#4d5869}.grid{stroke:#e2e4df}.curve{fill:none;stroke-width:1.8}"
            ".band{opacity:.07}.title{font-weight:bold}</style>\n<rect width=\"100%%\" "
            "height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"title\" x=\"%d\" y=\"18\">",
            WIDTH, height, WIDTH, height, LEFT);
    write_text(output.file, group->title);
    fprintf(output.file,
            "</text>\n<text x=\"%d\" y=\"34\">gap to the best known: median of %d tasks%s</text>\n",
            LEFT, group->task_count,
            group->method_count <= BANDS_MOST ? ", band: their quartiles" : "");
    write_axes(output.file, &frame);
    for (int m = 0; m < group->method_count; m++) {
        write_method(output.file, &frame, group, m, values);
    }
    fputs("</svg>\n", output.file);
    return mer_output_close(&output, error);
}
