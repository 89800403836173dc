import ArgumentParser
import CLinux
import Foundation

/// Many event streams, read on the calling thread by one epoll loop: when an event came is measured
/// at its socket, and not where a thread wakes for it.
final class StreamCrowd {
  /// One of the streams.
  final class Member {
    fileprivate let descriptor: Int32
    /// What has to come, in this order; bytes of a stream that waits for nothing are dropped.
    fileprivate var awaited: [[UInt8]] = []
    fileprivate var received: [UInt8] = []

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }
  }

  /// Longer than a heartbeat: whoever hears nothing for so long waits in vain.
  private static let patience = Duration.seconds(20)

  private let queue = epoll_create1(0)
  private var members: [Int32: Member] = [:]
  private var waiting = 0
  private var events = [epoll_event](repeating: epoll_event(), count: 1024)
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  deinit {
    for descriptor in members.keys { close(descriptor) }
    close(queue)
  }

  /// Asks for a stream, and does not wait for the answer.
  func open(_ path: String, port: UInt16, from host: UInt8, fields: String) throws -> Member {
    let descriptor = try EventSocket.ask(path, port: port, from: host, fields: fields)
    let member = Member(descriptor)
    members[descriptor] = member
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.fd = descriptor
    epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event)
    return member
  }

  /// Closes a stream.
  func leave(_ member: Member) {
    members[member.descriptor] = nil
    close(member.descriptor)
  }

  /// Says what has to come on a stream from now on.
  func await(_ texts: [String], on member: Member) {
    waiting += 1
    member.awaited = texts.map { Array($0.utf8) }
  }

  /// Reads what comes until at most so many streams still wait for something.
  func read(untilWaiting most: Int = 0) throws {
    let end = ContinuousClock.now + Self.patience
    while waiting > most {
      let count = epoll_wait(queue, &events, Int32(events.count), 1000)
      for event in events.prefix(Int(max(count, 0))) {
        if let member = members[event.data.fd] { try read(member) }
      }
      if ContinuousClock.now > end { throw vainWait }
    }
  }

  private var vainWait: ValidationError {
    let one = members.values.first { !$0.awaited.isEmpty }
    let missing = one?.awaited.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let received = String(decoding: one?.received ?? [], as: UTF8.self)
    return ValidationError(
      "\(waiting) streams wait in vain, one of them for \(missing) after:\n\(received)")
  }

  private func read(_ member: Member) throws {
    let count = recv(member.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      throw ValidationError(
        "a stream ended: " + String(decoding: member.received, as: UTF8.self))
    }
    guard !member.awaited.isEmpty else { return }
    member.received += buffer[..<count]
    while let text = member.awaited.first, let range = member.received.firstRange(of: text) {
      member.received.removeSubrange(..<range.upperBound)
      member.awaited.removeFirst()
    }
    guard member.awaited.isEmpty else { return }
    member.received = []
    waiting -= 1
  }
}
