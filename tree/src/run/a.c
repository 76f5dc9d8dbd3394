/* "map" of jobs: a comment */ int jobless, encore, mapped, map; // of cores
if (strcmp(name, "map") == 0 || is("mapper") || is("a map")) {
    int b = x->job_count;
}
MerJobs *b;
double coreTime = 0; char *url = "http://a/b"; int tenants;
const void *c = &mer_problem_schedule, *d = mer_problem_find(name);
const void *e = &mer_optimizer_lpt;
int f = MER_PLAN_NEST, metric = MER_METRIC_MAKESPAN, other = find("makespan");
say("2 jobs"); use(MER_METRIC_MAKESPAN, "makespan");
/* several
   jobs */ int g;
int h = is("lpt");
int i = MER_METRIC_MAKESPAN, j = find("makespan");
