import CLinux
import Foundation
import Locks

/// Reads whatever comes on many sockets, so that no server has to wait for them, and counts in it.
///
/// Whoever asks for much is elsewhere: this takes no processor from the server, nor from the client whose patience is
/// measured, longer than it takes to read a piece.
final class Drain: Sendable {
  private struct State {
    var descriptors: [Int32] = []
    /// How often each text has come, of those that are counted.
    var counts: [String: Int] = [:]
    var isOver = false
  }

  private static let texts = ["retry:", "event: didChange"]

  private let state = Mutex(State())
  private let queue: Int32

  init() {
    queue = epoll_create1(0)
    Thread.detachNewThread { [queue, weak self] in
      // PRIO_PROCESS, whose type differs between C libraries; 0 is the calling thread.
      setpriority(.init(0), 0, 19)
      var events = [epoll_event](repeating: epoll_event(), count: 1024)
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = epoll_wait(queue, &events, Int32(events.count), 100)
        guard let self, !self.state.withLock(\.isOver) else { return }
        for event in events.prefix(Int(max(count, 0))) {
          self.read(event.data.fd, &buffer)
          // Not before its next tick the scheduler takes the processor from this thread, whatever its priority.
          sched_yield()
        }
      }
    }
  }

  deinit {
    state.withLock { state in
      state.isOver = true
      for descriptor in state.descriptors { close(descriptor) }
    }
    close(queue)
  }

  /// Takes over a socket.
  func add(_ descriptor: Int32) {
    state.withLock { $0.descriptors.append(descriptor) }
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.fd = descriptor
    epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event)
  }

  /// Counts from zero.
  func forget() { state.withLock { $0.counts = [:] } }

  /// Waits until a text has come so often.
  func wait(for text: String, count: Int, atMost time: Duration) {
    let end = ContinuousClock.now + time
    while state.withLock({ $0.counts[text] ?? 0 }) < count, .now < end { usleep(1000) }
  }

  /// Pieces end where an event ends, as far as it matters here.
  private func read(_ descriptor: Int32, _ buffer: inout [UInt8]) {
    let count = recv(descriptor, &buffer, buffer.count - 1, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      if count == 0 { epoll_ctl(queue, EPOLL_CTL_DEL, descriptor, nil) }
      return
    }
    buffer[count] = 0
    for text in Self.texts {
      let number = buffer.withUnsafeBufferPointer { Self.count(of: text, in: $0) }
      if number > 0 { state.withLock { $0.counts[text, default: 0] += number } }
    }
  }

  /// How often a text comes, up to the first NUL, of which events have none.
  private static func count(of text: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var found = 0
    bytes.withMemoryRebound(to: CChar.self) { bytes in
      var rest = UnsafePointer(bytes.baseAddress)
      while let start = rest, let place = strstr(start, text) {
        found += 1
        rest = UnsafePointer(place + text.utf8.count)
      }
    }
    return found
  }
}
