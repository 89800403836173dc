// One interface, that of the module Synchronization: the module itself, but for two cases.
//
// On Apple's systems it begins with macOS 15 and iOS 18; what stands here is on the system's lock.
//
// Under the thread sanitizer a lock must be one that the sanitizer sees. On Linux the short ways of
// locking are compiled into the code that calls them, and seen; where threads wait for one another
// the long ways are in the standard library, which is not built for the sanitizer: it takes what one
// thread did under the lock, and what the next does, for a race. `Scripts/sanitize thread` sets
// SANITIZE_THREAD, and locks are POSIX's then, which the sanitizer knows.

#if canImport(Darwin)
  import os
#elseif SANITIZE_THREAD
  @_exported public import Synchronization

  import Glibc
#else
  // The types and all their members, so that who imports this has them as they are.
  @_exported public import Synchronization
#endif

#if canImport(Darwin) || SANITIZE_THREAD
  #if canImport(Darwin)
    private typealias SystemLock = os_unfair_lock
  #else
    private typealias SystemLock = pthread_mutex_t
  #endif

  /// A value that one thread at a time may touch.
  // Safe to share: the value is touched under the lock alone.
  package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Both have an address for as long as this is.
    private let lock = UnsafeMutablePointer<SystemLock>.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    package init(_ initialValue: consuming sending Value) {
      lock.initialize(to: SystemLock())
      value.initialize(to: initialValue)
    }

    deinit {
      value.deinitialize(count: 1).deallocate()
      lock.deinitialize(count: 1).deallocate()
    }

    /// Waits until no other thread is in here; from within it would wait for ever.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      #if canImport(Darwin)
        os_unfair_lock_lock(lock)
        defer { os_unfair_lock_unlock(lock) }
      #else
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
      #endif
      return try body(&value.pointee)
    }
  }
#endif
