// What the Glibc and Musl modules leave out. Empty on other systems.
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/prctl.h>

/// https://man7.org/linux/man-pages/man2/accept4.2.html, which the modules hide as an extension.
int accept4(int descriptor, void *address, unsigned int *length, int flags);

/// How much later than asked for the calling thread's sleeps may end, in nanoseconds, so that they end
/// together with others: 50 000 unless it is set. https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html;
/// Swift does not call a function with `...`.
static inline void set_timer_slack(unsigned long nanoseconds) {
  prctl(PR_SET_TIMERSLACK, nanoseconds, 0UL, 0UL, 0UL);
}
#endif
