/* Curves as SVG. The page draws them too, with more to choose; this is the version to print. */
#include "report/studies/svg.h"

#include "report/tables/output.h"
#include "report/tables/table.h"

#include <cjson/cJSON.h>
#include <math.h>

enum {
    WIDTH = 720,
    HEIGHT = 420,
    LEFT = 76,
    RIGHT = 180,
    TOP = 36,
    BOTTOM = 52,
    LEGEND_LIMIT = 16
};

static const char *const colors[] = {"#33689e", "#c4752d", "#3f8a6d", "#9a5a97",
                                     "#b04a4a", "#5d7a2f", "#2f8793", "#7d6a52"};

typedef struct Frame {
    double most_evaluations, most_ratio;
} Frame;

static double place_x(const Frame *frame, double evaluations)
{
    return LEFT + log(evaluations) / log(frame->most_evaluations) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const Frame *frame, double ratio)
{
    return HEIGHT - BOTTOM - log(ratio) / log(frame->most_ratio) * (HEIGHT - TOP - BOTTOM);
}

static const cJSON *task_of(const cJSON *header, int task)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(header, "tasks"), task);
}

/* What the curve is divided by: its bound, or its own end. */
static double limit_of(const cJSON *header, const MerReportCurve *curve, int task)
{
    const cJSON *bound = cJSON_GetObjectItemCaseSensitive(task_of(header, task), "bound");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(bound, "value");
    bool         is_useful = cJSON_IsNumber(value) && value->valuedouble != 0;
    return is_useful ? value->valuedouble : curve->scores[curve->count - 1];
}

/* At least 1, whichever direction is better; a maximised score is negative. NaN without meaning. */
static double ratio_of(double score, double limit)
{
    double ratio = score < 0 ? fabs(limit) / -score : score / limit;
    return ratio > 0 ? fmax(1, ratio) : NAN;
}

static Frame measure(const MerReportRun *run, const cJSON *header)
{
    Frame frame = {2, 1.1};
    for (int task = 0; task < run->curve_count; task++) {
        const MerReportCurve *curve = &run->curves[task];
        for (int i = 0; i < curve->count; i++) {
            double limit = limit_of(header, curve, task);
            frame.most_ratio = fmax(frame.most_ratio, ratio_of(curve->scores[i], limit));
            frame.most_evaluations = fmax(frame.most_evaluations, (double)curve->evaluations[i]);
        }
    }
    return frame;
}

static void write_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '&') {
            fputs(*text == '<' ? "&lt;" : "&amp;", file);
        } else if ((unsigned char)*text >= ' ') {
            fputc(*text, file);
        }
    }
}

/* Ticks at 1, 2 and 5 of each decade, only at 1 when there are many decades. */
static void write_axis(FILE *file, const Frame *frame, bool is_x)
{
    double most = is_x ? frame->most_evaluations : frame->most_ratio;
    int    parts = most > 1e3 ? 1 : 3;
    char   label[48];
    for (int step = 0; step < 40 * parts; step++) {
        double value = pow(10, step / parts) * (step % parts == 0 ? 1 : step % parts == 1 ? 2 : 5);
        if (value > most) {
            break;
        }
        mer_print_engineering(label, value, "");
        if (is_x) {
            double x = place_x(frame, value);
            fprintf(file, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", x, TOP, HEIGHT - BOTTOM);
            fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                    HEIGHT - BOTTOM + 18, label);
        } else {
            double y = place_y(frame, value);
            fprintf(file, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
            fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                    y + 4, label);
        }
    }
}

static void write_curve(FILE *file, const Frame *frame, const cJSON *header,
                        const MerReportCurve *curve, int task)
{
    const char *color = colors[(size_t)task % (sizeof colors / sizeof *colors)];
    const char *command = "M";
    double      limit = limit_of(header, curve, task);
    fputs("<path class=\"curve\" d=\"", file);
    for (int i = 0; i < curve->count; i++) {
        double ratio = ratio_of(curve->scores[i], limit);
        if (isnan(ratio)) {
            continue;
        }
        double x = place_x(frame, (double)curve->evaluations[i]);
        double y = place_y(frame, ratio);
        if (*command == 'M') {
            fprintf(file, "M%.2f %.2f", x, y);
        } else {
            fprintf(file, "H%.2fV%.2f", x, y);
        }
        command = "L";
    }
    fprintf(file, "\" stroke=\"%s\"/>\n", color);
    if (task < LEGEND_LIMIT) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(task_of(header, task), "name");
        int          y = TOP + 6 + task * 18;
        fprintf(file, "<path class=\"curve\" d=\"M%d %dh16\" stroke=\"%s\"/>", WIDTH - RIGHT + 14,
                y, color);
        fprintf(file, "<text x=\"%d\" y=\"%d\">", WIDTH - RIGHT + 36, y + 4);
        write_text(file, cJSON_IsString(name) ? name->valuestring : "task");
        fputs("</text>\n", file);
    }
}

static void write_picture(FILE *file, const MerReportRun *run, const cJSON *header)
{
    Frame frame = measure(run, header);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<style>text{font:12px sans-serif;fill:#4d5869}"
            ".grid{stroke:#e2e4df}.curve{fill:none;stroke-width:1.5}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_axis(file, &frame, true);
    write_axis(file, &frame, false);
    for (int task = 0; task < run->curve_count; task++) {
        if (run->curves[task].count > 0) {
            write_curve(file, &frame, header, &run->curves[task], task);
        }
    }
    fprintf(file, "<text x=\"%d\" y=\"20\">best score / bound</text>\n", LEFT);
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">evaluations</text>\n</svg>\n",
            WIDTH - RIGHT, HEIGHT - 14);
}

MerStatus mer_report_svg(const MerReportRun *run, const char *path, MerError *error)
{
    MerOutput output;
    MerStatus status = mer_output_open(&output, path, error);
    if (status != MER_OK) {
        return status;
    }
    cJSON *header = cJSON_Parse(run->header);
    write_picture(output.file, run, header);
    cJSON_Delete(header);
    return mer_output_close(&output, error);
}
