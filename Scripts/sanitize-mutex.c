// What the thread sanitizer has to know of Synchronization.Mutex on Linux, loaded with LD_PRELOAD.
//
// The compiler puts the short ways of locking and unlocking, which are atomic, into the code that
// calls them, where the sanitizer sees them. Where threads wait for one another the long ways are
// taken, and these are in the standard library, which is not built for the sanitizer: it takes what
// one thread did under the lock and what the next one does for a race. Here both are told: no report
// has to be suppressed, and a real race under a lock that is not held is still one.
//
// The names are those of Swift 6's library: internal func _lockSlow(_: UInt32), _unlockSlow() and
// _tryLockSlow() -> Bool of _MutexHandle, whose address is that of the lock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

// Of the sanitizer; programs without it, which are started too, never come here.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock_slow(uint32_t state, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);

SWIFT void lock_slow(uint32_t state, SELF) {
  typedef SWIFT void (*function)(uint32_t, SELF);
  ((function)dlsym(RTLD_NEXT, LOCK))(state, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock_slow(SELF) {
  typedef SWIFT void (*function)(SELF);
  if (__tsan_release) __tsan_release(handle);
  ((function)dlsym(RTLD_NEXT, UNLOCK))(handle);
}

SWIFT bool try_lock_slow(SELF) {
  typedef SWIFT bool (*function)(SELF);
  bool is_locked = ((function)dlsym(RTLD_NEXT, TRY_LOCK))(handle);
  if (is_locked && __tsan_acquire) __tsan_acquire(handle);
  return is_locked;
}
