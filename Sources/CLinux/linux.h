// What the Glibc and Musl modules leave out. Empty on other systems.
#ifdef __linux__
#include <sys/epoll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// https://man7.org/linux/man-pages/man2/accept4.2.html, which the modules hide as an extension.
int accept4(int descriptor, void *address, unsigned int *length, int flags);

/// How much later than asked for the calling thread's sleeps may end, in nanoseconds, so that they end
/// together with others: 50 000 unless it is set. https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html;
/// Swift does not call a function with `...`.
static inline void set_timer_slack(unsigned long nanoseconds) {
  prctl(PR_SET_TIMERSLACK, nanoseconds, 0UL, 0UL, 0UL);
}

/// Gives the calling thread the first 15 bytes of a name, which `top -H` shows:
/// https://man7.org/linux/man-pages/man2/PR_SET_NAME.2const.html.
static inline void set_thread_name(const char *name) {
  prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}

/// Has a thread run under SCHED_IDLE, which the headers hide as an extension: whoever else wakes takes the
/// processor from it (https://man7.org/linux/man-pages/man7/sched.7.html). -1: the system refuses. Not by way
/// of the C library, for musl's function always fails.
static inline int run_thread_when_idle(int thread) {
  struct sched_param parameters = {0};
  return (int)syscall(SYS_sched_setscheduler, thread, 5, &parameters);
}
#endif
