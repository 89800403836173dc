import ArgumentParser
import CLinux
import Foundation

/// Many streams, read on the calling thread by one epoll loop, in which a text is counted.
final class DeliveryCrowd {
  /// Longer than a heartbeat: whoever hears nothing for so long waits in vain.
  private static let patience = Duration.seconds(30)

  private let queue = epoll_create1(0)
  private var text: [UInt8]
  /// Of each stream the last bytes, in which the text may have begun.
  private var tails: [Int32: [UInt8]] = [:]
  private var events = [epoll_event](repeating: epoll_event(), count: 1024)
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)

  /// How often the text has come.
  private(set) var count = 0
  /// All that came.
  private(set) var bytes = 0

  init(counting text: String) { self.text = Array(text.utf8) }

  deinit {
    for descriptor in tails.keys { close(descriptor) }
    close(queue)
  }

  /// How many streams there are.
  var streams: Int { tails.count }

  /// Counts another text from now on, from zero.
  func count(instead text: String) {
    self.text = Array(text.utf8)
    count = 0
  }

  /// Asks for a stream, and does not wait for the answer.
  func open(_ path: String, port: UInt16, from host: UInt8, fields: String = "") throws {
    let descriptor = try EventSocket.ask(path, port: port, from: host, fields: fields)
    tails[descriptor] = []
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.fd = descriptor
    epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event)
  }

  /// Reads what comes until the text has come so often.
  func read(untilCount wanted: Int) throws {
    let end = ContinuousClock.now + Self.patience
    while count < wanted {
      try readOnce(milliseconds: 1000)
      if ContinuousClock.now > end {
        throw ValidationError("it came \(count) times, and should \(wanted) times")
      }
    }
  }

  /// Reads until nothing has come for a while.
  func readUntilQuiet(milliseconds: Int32) throws {
    while try readOnce(milliseconds: milliseconds) {}
  }

  @discardableResult
  private func readOnce(milliseconds: Int32) throws -> Bool {
    let ready = epoll_wait(queue, &events, Int32(events.count), milliseconds)
    for event in events.prefix(Int(max(ready, 0))) { try read(event.data.fd) }
    return ready > 0
  }

  private func read(_ descriptor: Int32) throws {
    let received = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    guard received > 0 else {
      if received < 0, errno == EAGAIN || errno == EINTR { return }
      throw ValidationError("a stream ended")
    }
    bytes += received
    let all = (tails[descriptor] ?? []) + buffer[..<received]
    let position = countTexts(in: all)
    // What was counted is not counted again.
    tails[descriptor] = Array(all[max(position, all.count - text.count + 1)...])
  }

  /// Counts the text in some bytes, and returns where the last one ends.
  private func countTexts(in bytes: [UInt8]) -> Int {
    var (end, position) = (0, 0)
    bytes.withUnsafeBytes { bytes in
      while position + text.count <= bytes.count, let start = bytes.baseAddress,
        let found = memchr(start + position, Int32(text[0]), bytes.count - position)
      {
        position = UnsafeRawPointer(found) - start
        guard position + text.count <= bytes.count else { return }
        guard memcmp(found, text, text.count) == 0 else {
          position += 1
          continue
        }
        count += 1
        position += text.count
        end = position
      }
    }
    return end
  }
}
