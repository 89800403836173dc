// One interface, that of the module Synchronization: the module itself where it is, and on Apple's
// systems, where it begins with macOS 15 and iOS 18, what stands here, on the system's lock.

#if canImport(Darwin)
  import os

  /// A value that one thread at a time may touch.
  // Safe to share: the value is touched under the lock alone.
  package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Both have an address for as long as this is.
    private let lock = os_unfair_lock_t.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    package init(_ initialValue: consuming sending Value) {
      lock.initialize(to: os_unfair_lock())
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
      os_unfair_lock_lock(lock)
      defer { os_unfair_lock_unlock(lock) }
      return try body(&value.pointee)
    }
  }
#else
  // The types and all their members, so that who imports this has them as they are.
  @_exported public import Synchronization
#endif
