/* Prices one plan as its evaluator wants it: here, or in a child process that a bad plan may take down. */
#include "run/search/batch.h"

#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const double PATIENCE_S = 10; /* of evaluators that name no time */
enum { PULSE_MS = 50 };              /* how often a waiting run looks whether it is to stop */

typedef struct Answer { /* what comes through the pipe */
    MerCost cost;
    double  spent[MER_SPENT_COUNT];
} Answer;

static void spend(void *state, MerSpent what, double amount)
{
    Answer *answer = state;
    answer->spent[what] += amount;
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

/* How much of the answer came before the end of the time, or of the child. */
static size_t receive(int pipe_end, Answer *answer, double deadline, MerNotes *notes,
                      bool *was_cancelled)
{
    size_t        received = 0;
    struct pollfd waiting = {.fd = pipe_end, .events = POLLIN};
    while (received < sizeof *answer && mer_clock() < deadline) {
        *was_cancelled = mer_is_cancelled(notes);
        if (*was_cancelled) {
            break;
        }
        if (poll(&waiting, 1, PULSE_MS) <= 0) {
            continue;
        }
        ssize_t count = read(pipe_end, (char *)answer + received, sizeof *answer - received);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        received += (size_t)count;
    }
    return received;
}

static void explain(MerCost *cost, int status, bool is_late, double timeout)
{
    mer_cost_clear(cost);
    if (is_late) {
        mer_cost_refuse(cost, "timeout: no answer within %g s", timeout);
    } else if (WIFSIGNALED(status)) {
        mer_cost_refuse(cost, "crash: ended by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    } else {
        mer_cost_refuse(cost, "crash: ended with code %d without an answer", WEXITSTATUS(status));
    }
}

static void measure(const MerEvaluator *evaluator, const MerPlan *plan, const MerCall *call,
                    MerCost *cost)
{
    const MerEvaluatorClass *type = evaluator->type;
    double timeout = type->timeout_s ? type->timeout_s(evaluator->state) : PATIENCE_S;
    Answer answer = {0};
    int    ends[2];
    bool   was_cancelled = false;
    if (pipe(ends) != 0) {
        mer_cost_clear(cost);
        mer_cost_refuse(cost, "crash: no pipe to a child process: %s", strerror(errno));
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer_and_leave(evaluator, plan, call, ends[1]);
    }
    close(ends[1]);
    double deadline = mer_clock() + timeout;
    size_t received =
        child > 0 ? receive(ends[0], &answer, deadline, call->notes, &was_cancelled) : 0;
    bool is_late = received < sizeof answer && mer_clock() >= deadline;
    int  status = 0;
    if (child > 0) {
        if (received < sizeof answer && (is_late || was_cancelled)) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
        }
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    if (received < sizeof answer) {
        explain(cost, status, is_late, timeout);
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
