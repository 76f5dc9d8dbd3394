/* Pipes to a program, with a time limit on both. */
#include "run/command/worker.h"

#include "base/log.h"
#include "base/memory.h"
#include "run/command/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static const double SECOND_LINE_S = 0.05; /* how long one is waited for after the first answer */

enum { PIECE = 4096, LONGEST = 1 << 24 }; /* of an answer, bytes */

/* A pipe whose ends no other program inherits. */
static bool open_pipe(int ends[2])
{
    if (pipe(ends) != 0) {
        return false;
    }
    return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static void close_pair(const int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
}

static int spawn(MerWorker *worker, const char *command, const int input[2], const int output[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          how;
    sigset_t                   usual;
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)(size_t)command, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                       POSIX_SPAWN_SETSIGMASK);
    sigemptyset(&usual);
    posix_spawnattr_setsigmask(&how, &usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&how, &usual);
    int code = posix_spawn(&worker->pid, "/bin/sh", &actions, &how, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    return code;
}

static bool start(MerWorker *worker, const char *command, MerCost *cost)
{
    int  input[2] = {-1, -1}, output[2] = {-1, -1};
    bool is_open = open_pipe(input) && open_pipe(output);
    int  code = is_open ? spawn(worker, command, input, output) : errno;
    if (code != 0) {
        worker->pid = 0;
        close_pair(input);
        close_pair(output);
        mer_cost_refuse(cost, "crash: the command does not start: %s", strerror(code));
        return false;
    }
    close(input[0]);
    close(output[1]);
    worker->in = input[1];
    worker->out = output[0];
    worker->size = 0;
    fcntl(worker->in, F_SETFL, O_NONBLOCK);
    fcntl(worker->out, F_SETFL, O_NONBLOCK);
    return true;
}

/* How the program ended; it is ended by force after `patience_s`. */
static int end(MerWorker *worker, double patience_s)
{
    close(worker->in);
    close(worker->out);
    int status = mer_child_end(worker->pid, patience_s);
    worker->pid = 0;
    worker->size = 0;
    return status;
}

void mer_worker_stop(MerWorker *worker, double patience_s)
{
    if (worker->pid > 0) {
        end(worker, patience_s);
    }
    free(worker->text);
    free(worker->answer);
    *worker = (MerWorker){0};
}

/* write() to a program that has left, without the signal that would end us. */
static ssize_t write_quietly(int file, const char *text, size_t size)
{
    const struct timespec now = {0, 0};
    sigset_t              broken, before, waiting;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&waiting);
    bool was_waiting = sigismember(&waiting, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t written = write(file, text, size);
    int     code = errno;
    if (written < 0 && code == EPIPE && !was_waiting) {
        while (sigtimedwait(&broken, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return written;
}

static MerChildState send_line(MerWorker *worker, const char *line, size_t size, double deadline,
                               MerNotes *notes)
{
    while (size > 0) {
        MerChildState state = mer_child_wait(worker->in, POLLOUT, deadline, notes);
        if (state != MER_CHILD_READY) {
            return state;
        }
        ssize_t written = write_quietly(worker->in, line, size);
        if (written < 0 && !mer_child_is_passing(errno)) {
            return MER_CHILD_GONE;
        }
        if (written > 0) {
            line += written;
            size -= (size_t)written;
        }
    }
    return MER_CHILD_READY;
}

/* Adds what has come to the text. */
static ssize_t read_piece(MerWorker *worker)
{
    if (worker->size + PIECE > worker->capacity) {
        worker->capacity = 2 * worker->capacity + PIECE;
        worker->text = mer_heap_resize(worker->text, worker->capacity, 1);
    }
    ssize_t count = read(worker->out, worker->text + worker->size, PIECE);
    worker->size += count > 0 ? (size_t)count : 0;
    return count;
}

/* Whether the program has said more than blanks. Behind an answer that would be taken for the next one. */
static bool has_said_more(MerWorker *worker, bool *is_open)
{
    ssize_t count = 1;
    while (worker->size < LONGEST && count > 0) {
        count = read_piece(worker);
    }
    *is_open = count > 0 || (count < 0 && mer_child_is_passing(errno));
    for (size_t i = 0; i < worker->size; i++) {
        if (!strchr(" \t\r\n", worker->text[i])) {
            return true;
        }
    }
    worker->size = 0;
    return false;
}

/* Does a program that has just given its first answer go on to speak? Then it writes two lines for a plan, or one before
 * it is asked. */
static bool goes_on(MerWorker *worker, MerNotes *notes)
{
    double deadline = mer_clock() + SECOND_LINE_S;
    bool   has_more, is_open;
    do {
        has_more = has_said_more(worker, &is_open);
    } while (!has_more && is_open &&
             mer_child_wait(worker->out, POLLIN, deadline, notes) == MER_CHILD_READY);
    return has_more;
}

static const char *refuse_more(MerWorker *worker, MerCost *cost)
{
    end(worker, 0);
    mer_cost_refuse(cost,
                    "answer: the program wrote more than one line for a plan, first \"%.40s\"",
                    worker->answer);
    return NULL;
}

/* Takes a whole line out of what came; what stands behind it stays. Blank lines are none. */
static const char *take_line(MerWorker *worker)
{
    size_t blank = 0;
    while (blank < worker->size && strchr(" \t\r\n", worker->text[blank])) {
        blank++;
    }
    char *begin = worker->text + blank;
    char *newline = blank < worker->size ? memchr(begin, '\n', worker->size - blank) : NULL;
    if (!newline) {
        return NULL;
    }
    size_t length = (size_t)(newline - begin) + 1;
    worker->answer = mer_heap_resize(worker->answer, length, 1);
    memcpy(worker->answer, begin, length);
    worker->answer[length - 1] = '\0';
    worker->size -= blank + length;
    memmove(worker->text, newline + 1, worker->size);
    return worker->answer;
}

static MerChildState read_line(MerWorker *worker, double deadline, MerNotes *notes)
{
    while (!take_line(worker)) {
        MerChildState state = mer_child_wait(worker->out, POLLIN, deadline, notes);
        if (state != MER_CHILD_READY) {
            return state;
        }
        ssize_t count = read_piece(worker);
        if (count == 0 || (count < 0 && !mer_child_is_passing(errno))) {
            return MER_CHILD_GONE;
        }
        if (worker->size > LONGEST) {
            return MER_CHILD_GONE; /* it says what nobody asked for */
        }
    }
    return MER_CHILD_READY;
}

/* A program may answer one line and leave: then the next line needs a new one. It may even leave without reading. */
const char *mer_worker_ask(MerWorker *worker, const char *command, const char *line, size_t size,
                           double timeout_s, MerNotes *notes, MerCost *cost)
{
    double        deadline = mer_clock() + timeout_s;
    int           status;
    bool          was_running, is_open;
    MerChildState state;
    if (worker->pid != 0 && has_said_more(worker, &is_open)) {
        return refuse_more(worker, cost);
    }
    do {
        was_running = worker->pid != 0;
        if (!was_running && !start(worker, command, cost)) {
            return NULL;
        }
        state = send_line(worker, line, size, deadline, notes);
        if (state == MER_CHILD_READY || (state == MER_CHILD_GONE && !was_running)) {
            state = read_line(worker, deadline, notes);
        }
        if (state == MER_CHILD_READY) {
            bool has_more = !was_running && goes_on(worker, notes);
            return has_more ? refuse_more(worker, cost) : worker->answer;
        }
        bool is_too_long = worker->size > LONGEST;
        status = end(worker, state == MER_CHILD_GONE && !is_too_long ? 1 : 0);
        if (is_too_long) {
            mer_cost_refuse(cost, "answer: more than %d bytes without a newline", LONGEST);
            return NULL;
        }
    } while (was_running && state == MER_CHILD_GONE && WIFEXITED(status) &&
             WEXITSTATUS(status) == 0);
    mer_child_explain(state, status, timeout_s, cost);
    return NULL;
}
