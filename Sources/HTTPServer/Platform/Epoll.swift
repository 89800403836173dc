#if os(Linux)
  import CLinux

  /// Where the kernel writes what is ready.
  struct EpollEvents: ~Copyable {
    // Freed in deinit, never handed out.
    private let memory: UnsafeMutableBufferPointer<epoll_event>

    init(capacity: Int) {
      memory = .allocate(capacity: capacity)
      memory.initialize(repeating: epoll_event())
    }

    deinit { memory.deallocate() }

    subscript(index: Int) -> (events: UInt32, data: UInt64) {
      (memory[index].events, memory[index].data.u64)
    }

    /// Fetches what is ready, without waiting.
    func poll(_ epoll: Int32) -> Int {
      max(0, Int(epoll_wait(epoll, memory.baseAddress, Int32(memory.count), 0)))
    }

    static func control(
      _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, events: UInt32, data: UInt64
    ) -> Int32 {
      var event = epoll_event(events: events, data: epoll_data_t(u64: data))
      return epoll_ctl(epoll, operation, descriptor, &event)
    }
  }
#endif
