// `sched_setattr` has no function in most C libraries, and `syscall` is variadic, which Swift
// cannot call.
#ifndef LONG_WORK_H
#define LONG_WORK_H
#if defined(__linux__)
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Makes the calling thread yield to others: a batch thread with a niceness, and with slices so long
// (nanoseconds, from 100 us to 100 ms; Linux 6.12, ignored before) that a thread which wakes on its
// processor goes before it at once, and not when the slice is over. `man 2 sched_setattr`.
// Returns 0, or -1 with errno.
static inline int yield_to_others(int32_t niceness, uint64_t slice) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t niceness;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = 48, .policy = 3 /* SCHED_BATCH */, .niceness = niceness, .runtime = slice};
  return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}
#endif
#endif
