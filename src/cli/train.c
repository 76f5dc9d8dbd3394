/* --train: one policy learns on several networks, run after run. */
#include "cli/request.h"

#include "run/internal.h"

/* Specs are listed workload by workload (MER_AXIS_MAP): what comes after that axis is a policy of its own each. */
static int policies_of(const MerRequest *request, int count)
{
    int workloads = request->experiment.axes[MER_AXIS_WORKLOAD].count;
    return workloads > 1 && count % workloads == 0 ? count / workloads : count;
}

static int check(const MerRequest *request, const MerVerb *verb, const MerRunSpec *specs, int count)
{
    const MerRunOptions *options = &request->experiment.options;
    for (int i = 0; i < count; i++) {
        const MerOptimizerClass *optimizer = specs[i].optimizer;
        if (!optimizer->save || !optimizer->load || optimizer->has_no_policy) {
            return mer_cli_usage(verb, "--train: optimizer %s has no policy", optimizer->name);
        }
        if (specs[i].budget > 0 && specs[i].budget < options->passes) {
            return mer_cli_usage(
                verb, "--train: budget %lld is for %lld passes, expected at least one trial each",
                (long long)specs[i].budget, (long long)options->passes);
        }
    }
    int policies = policies_of(request, count);
    if (options->save_policy && policies > 1) {
        return mer_cli_usage(verb, "--save-policy takes one policy, --train makes %d", policies);
    }
    MerError error = {0};
    bool     is_lost =
        options->save_policy && mer_policy_check_file(options->save_policy, &error) != MER_OK;
    return is_lost ? mer_cli_fail(&error) : MER_EXIT_DONE;
}

/* A budget is that of all visits to a network. */
static int64_t share(int64_t budget, int visits, int visit)
{
    return budget * (visit + 1) / visits - budget * visit / visits;
}

int mer_cli_train(const MerRequest *request, const MerVerb *verb, const char *root,
                  MerRunSpec **specs, int *count, MerArena *arena)
{
    const MerRunOptions *options = &request->experiment.options;
    int                  code = check(request, verb, *specs, *count);
    int                  passes = (int)options->passes, policies = policies_of(request, *count);
    int                  workloads = *count / policies, total = *count * passes;
    if (code != MER_EXIT_DONE) {
        return code;
    }
    MerRunSpec *visits = MER_ARRAY(arena, MerRunSpec, total);
    for (int i = 0; i < total; i++) {
        int         policy = i / (workloads * passes), visit = i % (workloads * passes);
        MerRunSpec *spec = &visits[i];
        *spec = (*specs)[visit % workloads * policies + policy];
        spec->budget = share(spec->budget, passes, visit / workloads);
        if (visit > 0) {
            spec->policy = visits[i - 1].save_policy;
        }
        bool is_last = visit == workloads * passes - 1;
        spec->save_policy = is_last && options->save_policy
                                ? options->save_policy
                                : mer_arena_format(arena, "%s/trained-%03d.policy", root, i + 1);
    }
    *specs = visits;
    *count = total;
    return MER_EXIT_DONE;
}
