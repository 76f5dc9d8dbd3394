#include "run/command/child.h"

#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { PULSE_MS = 50 }; /* how often a waiting run looks whether it is to stop */

bool mer_child_is_passing(int code)
{
    return code == EINTR || code == EAGAIN || code == EWOULDBLOCK;
}

MerChildState mer_child_wait(int file, short what, double deadline, MerNotes *notes)
{
    struct pollfd waiting = {.fd = file, .events = what};
    for (;;) {
        double left = deadline - mer_clock();
        if (mer_is_cancelled(notes)) {
            return MER_CHILD_CANCELLED;
        }
        if (left <= 0) {
            return MER_CHILD_LATE;
        }
        if (poll(&waiting, 1, left < PULSE_MS / 1000.0 ? (int)(left * 1000) + 1 : PULSE_MS) > 0) {
            return MER_CHILD_READY;
        }
    }
}

static bool has_left(pid_t pid, int *status, int how)
{
    pid_t found = waitpid(pid, status, how);
    return found == pid || (found < 0 && errno != EINTR);
}

int mer_child_end(pid_t pid, double patience_s)
{
    const struct timespec pause = {0, 2000000};
    double                deadline = mer_clock() + patience_s;
    int                   status = 0;
    while (!has_left(pid, &status, isinf(patience_s) ? 0 : WNOHANG)) {
        if (mer_clock() >= deadline) {
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL); /* it may not lead its group yet */
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
            }
            break;
        }
        nanosleep(&pause, NULL);
    }
    kill(-pid, SIGKILL);
    return status;
}

void mer_child_explain(MerChildState state, int status, double timeout_s, MerCost *cost)
{
    if (state == MER_CHILD_LATE) {
        mer_cost_refuse(cost, "timeout: no answer within %g s", timeout_s);
    } else if (WIFSIGNALED(status)) {
        mer_cost_refuse(cost, "crash: ended by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    } else {
        int code = WEXITSTATUS(status);
        mer_cost_refuse(cost, "crash: ended with code %d without an answer%s", code,
                        code == 127   ? " (not found)"
                        : code == 126 ? " (not executable)"
                                      : "");
    }
}
