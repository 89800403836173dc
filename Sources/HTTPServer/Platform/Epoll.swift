#if os(Linux)
  // The Glibc module has neither epoll nor accept4, and a Swift target holds no C headers. The four
  // functions are declared here by their symbols: arguments are integers and pointers, which Swift
  // and C pass alike on every 64-bit Linux. A system library target with <sys/epoll.h> could stand
  // in for this file.

  /// One event, with the fields at the places that the kernel's `struct epoll_event` has them.
  ///
  /// It is packed on x86-64 and padded elsewhere.
  struct EpollEvents: ~Copyable {
    #if arch(x86_64)
      private static let dataOffset = 4
      private static let stride = 12
    #else
      private static let dataOffset = 8
      private static let stride = 16
    #endif

    // The kernel writes the events here; freed in deinit, never handed out.
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int

    init(capacity: Int) {
      self.capacity = capacity
      memory = .allocate(byteCount: capacity * Self.stride, alignment: 8)
    }

    deinit { memory.deallocate() }

    subscript(index: Int) -> (events: UInt32, data: UInt64) {
      let event = memory + index * Self.stride
      return (
        event.loadUnaligned(as: UInt32.self),
        event.loadUnaligned(fromByteOffset: Self.dataOffset, as: UInt64.self)
      )
    }

    /// Fetches what is ready, without waiting.
    func poll(_ epoll: Int32) -> Int {
      max(0, Int(epoll_wait(epoll, memory, Int32(capacity), 0)))
    }

    static func control(
      _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, events: UInt32, data: UInt64
    ) -> Int32 {
      withUnsafeTemporaryAllocation(byteCount: stride, alignment: 8) { event in
        event.storeBytes(of: events, as: UInt32.self)
        event.storeBytes(of: data, toByteOffset: dataOffset, as: UInt64.self)
        return epoll_ctl(epoll, operation, descriptor, event.baseAddress)
      }
    }
  }

  @_silgen_name("epoll_create1")
  func epoll_create1(_ flags: Int32) -> Int32

  @_silgen_name("epoll_ctl")
  private func epoll_ctl(
    _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ event: UnsafeMutableRawPointer?
  ) -> Int32

  @_silgen_name("epoll_wait")
  private func epoll_wait(
    _ epoll: Int32, _ events: UnsafeMutableRawPointer, _ count: Int32, _ milliseconds: Int32
  ) -> Int32

  @_silgen_name("accept4")
  func accept4(
    _ descriptor: Int32, _ address: UnsafeMutableRawPointer?,
    _ length: UnsafeMutablePointer<UInt32>?, _ flags: Int32
  ) -> Int32
#endif
