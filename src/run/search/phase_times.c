#include "run/search/phase_times.h"

#include "base/json_read.h"
#include "base/log.h"
#include "run/log/clock.h"

#include <math.h>
#include <string.h>

static MerPhaseTime *phase_named(MerPhaseTimes *times, const char *name)
{
    int p = 0;
    while (p < times->count && strcmp(times->phases[p].name, name) != 0) {
        p++;
    }
    if (p == MER_MAX_PHASES) {
        return NULL;
    }
    if (p == times->count) {
        times->count++;
        times->phases[p] = (MerPhaseTime){0};
        snprintf(times->phases[p].name, sizeof times->phases[p].name, "%s", name);
    }
    return &times->phases[p];
}

static void add(MerPhaseTimes *times, const char *name, double images, double seconds, double cpu_s,
                bool is_plain)
{
    MerPhaseTime *phase = phase_named(times, name);
    if (phase) {
        phase->epochs++;
        phase->images += images;
        phase->seconds += seconds;
        phase->cpu_s += cpu_s;
        phase->is_plain = is_plain;
    }
}

void mer_phase_begin(MerPhaseWatch *watch, bool is_plain)
{
    watch->began = mer_clock();
    watch->began_cpu = mer_cpu_clock();
    watch->images = 0;
    watch->is_plain = is_plain;
}

void mer_phase_spend(MerPhaseWatch *watch, MerSpent what, double amount)
{
    watch->images += what == MER_SPENT_IMAGES ? amount : 0;
}

void mer_phase_end(MerPhaseWatch *watch, const char *phase, int epoch, int epochs)
{
    double seconds = mer_clock() - watch->began, cpu_s = mer_cpu_clock() - watch->began_cpu;
    if (isnan(seconds) || watch->images <= 0) { /* not timed, or cut short */
        watch->began = NAN;
        return;
    }
    add(watch->times, phase, watch->images, seconds, cpu_s, watch->is_plain);
    if (watch->clock_file) {
        MerJson json = {0};
        mer_json_object(&json, NULL);
        mer_json_text(&json, "phase", phase);
        mer_json_int(&json, "epoch", epoch);
        mer_json_int(&json, "epochs", epochs);
        mer_json_real(&json, "images", watch->images);
        mer_json_real(&json, "seconds", seconds);
        mer_json_real(&json, "cpu_s", cpu_s);
        mer_json_real(&json, "images_per_s", watch->images / fmax(seconds, 1e-9));
        if (watch->is_plain) {
            mer_json_bool(&json, "plain", true);
        }
        mer_json_end_object(&json);
        fprintf(watch->clock_file, "%s\n", json.text);
        fflush(watch->clock_file); /* a killed run has its epochs, too */
        mer_json_free(&json);
    }
    watch->began = NAN;
}

static void take_line(void *context, const cJSON *line)
{
    const char *phase = mer_json_get_text(line, "phase", NULL);
    if (phase) {
        add(context, phase, mer_json_get_real(line, "images", 0),
            mer_json_get_real(line, "seconds", 0), mer_json_get_real(line, "cpu_s", 0),
            cJSON_IsTrue(mer_json_get(line, "plain")));
    }
}

void mer_phase_recall(MerPhaseTimes *times, const char *clock_path)
{
    mer_clock_read(clock_path, take_line, times);
}

static void count_line(void *context, const cJSON *line)
{
    const char    *phase = mer_json_get_text(line, "phase", NULL);
    MerPhaseTimes *logged = context;
    if (phase && strcmp(mer_json_get_text(line, "type", ""), "epoch") == 0) {
        add(logged, phase, 0, 0, 0, false);
    }
}

void mer_phase_limit(MerPhaseTimes *times, const char *log_path)
{
    MerPhaseTimes logged = {0};
    if (times->count > 0) {
        mer_clock_read(log_path, count_line, &logged);
    }
    for (int p = 0; p < times->count; p++) {
        MerPhaseTime       *phase = &times->phases[p];
        const MerPhaseTime *own = phase_named(&logged, phase->name);
        if (own && own->epochs < phase->epochs) {
            double part = (double)own->epochs / (double)phase->epochs;
            phase->epochs = own->epochs;
            phase->images *= part;
            phase->seconds *= part;
            phase->cpu_s *= part;
        }
    }
}

/* Of the processors' time: that of the clock says as much of what else the machine does. */
double mer_phase_relative(const MerPhaseTimes *times, int phase)
{
    const MerPhaseTime *plain = times->phases, *own = &times->phases[phase];
    while (plain < times->phases + times->count && !plain->is_plain) {
        plain++;
    }
    bool is_known = plain < times->phases + times->count && plain->cpu_s > 0;
    return is_known ? own->cpu_s / (double)own->epochs / (plain->cpu_s / (double)plain->epochs)
                    : NAN;
}

void mer_phase_write(const MerPhaseTimes *times, MerJson *json)
{
    if (times->count == 0) {
        return;
    }
    mer_json_array(json, "training");
    for (int p = 0; p < times->count; p++) {
        const MerPhaseTime *phase = &times->phases[p];
        mer_json_object(json, NULL);
        mer_json_text(json, "phase", phase->name);
        mer_json_int(json, "epochs", phase->epochs);
        mer_json_real(json, "images", phase->images);
        mer_json_real(json, "seconds", phase->seconds);
        mer_json_real(json, "cpu_s", phase->cpu_s);
        mer_json_real(json, "images_per_s", phase->images / fmax(phase->seconds, 1e-9));
        mer_json_real(json, "relative", mer_phase_relative(times, p));
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}
