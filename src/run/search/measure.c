/* Prices one plan as its evaluator wants it: here, or in a child process that a bad plan may take down. */
#include "run/search/batch.h"

#include "base/log.h"
#include "run/command/child.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

static const double PATIENCE_S = 10; /* of evaluators that name no time */

typedef struct Answer { /* what comes through the pipe */
    MerCost cost;
    double  spent[MER_SPENT_COUNT];
} Answer;

static void spend(void *state, MerSpent what, double amount)
{
    Answer *answer = state;
    answer->spent[what] += amount;
}

/* A child shares the lock of the log: were the run killed and the child left, nobody could resume it. */
static void leave_with(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) {
        _exit(1);
    }
}

/* The child never returns. Its notes are dropped, what it spends is told. */
static void answer_and_leave(const MerEvaluator *evaluator, const MerPlan *plan,
                             const MerCall *given, int pipe_end)
{
    Answer   answer = {0};
    MerNotes notes = {.state = &answer, .spend = spend};
    MerCall  call = *given;
    call.notes = &notes;
    setpgid(0, 0); /* so that whatever it starts can be ended with it */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    evaluator->type->evaluate(evaluator->state, plan, &call, &answer.cost);
    const char *at = (const char *)&answer;
    size_t      left = sizeof answer;
    while (left > 0) {
        ssize_t written = write(pipe_end, at, left);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            _exit(1);
        }
        at += written;
        left -= (size_t)written;
    }
    _exit(0);
}

/* MER_CHILD_READY: the whole answer came before the end of the time, or of the child. */
static MerChildState receive(int pipe_end, Answer *answer, double deadline, MerNotes *notes)
{
    size_t received = 0;
    while (received < sizeof *answer) {
        MerChildState state = mer_child_wait(pipe_end, POLLIN, deadline, notes);
        if (state != MER_CHILD_READY) {
            return state;
        }
        ssize_t count = read(pipe_end, (char *)answer + received, sizeof *answer - received);
        if (count == 0 || (count < 0 && !mer_child_is_passing(errno))) {
            return MER_CHILD_GONE;
        }
        received += count > 0 ? (size_t)count : 0;
    }
    return MER_CHILD_READY;
}

static void measure(const MerEvaluator *evaluator, const MerPlan *plan, const MerCall *call,
                    MerCost *cost)
{
    const MerEvaluatorClass *type = evaluator->type;
    double timeout = type->timeout_s ? type->timeout_s(evaluator->state) : PATIENCE_S;
    Answer answer = {0};
    int    ends[2];
    if (pipe(ends) != 0) {
        mer_cost_clear(cost);
        mer_cost_refuse(cost, "crash: no pipe to a child process: %s", strerror(errno));
        return;
    }
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        leave_with(parent);
        close(ends[0]);
        answer_and_leave(evaluator, plan, call, ends[1]);
    }
    close(ends[1]);
    MerChildState state =
        child > 0 ? receive(ends[0], &answer, mer_clock() + timeout, call->notes) : MER_CHILD_GONE;
    bool is_over = state == MER_CHILD_LATE || state == MER_CHILD_CANCELLED;
    int  status = child > 0 ? mer_child_end(child, is_over ? 0 : INFINITY) : 0;
    close(ends[0]);
    if (state != MER_CHILD_READY) {
        mer_cost_clear(cost);
        mer_child_explain(state, status, timeout, cost);
        return;
    }
    *cost = answer.cost;
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        if (answer.spent[s] != 0) {
            mer_spend(call->notes, (MerSpent)s, answer.spent[s]);
        }
    }
}

void mer_price_plan(const MerEvaluator *evaluator, const MerEvaluator *check, const MerPlan *plan,
                    const MerCall *call, MerCost *cost)
{
    if (check->type) {
        MerCall checking = *call;
        checking.limit = INFINITY;
        checking.base = checking.snapshot = NULL;
        check->type->evaluate(check->state, plan, &checking, cost);
        if (!cost->feasible) {
            return;
        }
    }
    if (evaluator->type->mode == MER_EVALUATE_MEASURED) {
        measure(evaluator, plan, call, cost);
    } else {
        evaluator->type->evaluate(evaluator->state, plan, call, cost);
    }
}
