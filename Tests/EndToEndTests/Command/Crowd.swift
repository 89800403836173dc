import Foundation

/// Thousands of event streams of one server, read by one thread without parsing: each is followed
/// by the bytes and a hash of what comes after its snapshot.
final class Crowd {
  fileprivate struct Member {
    let descriptor: Int32
    /// What came and is still looked through: up to the first change set, and then the last bytes.
    var tail: [UInt8] = []
    /// All that came, where it is asked for.
    var text: [UInt8]?
    var count = 0
    /// Of bytes only, so that it does not matter how they were divided.
    var hasher = Hasher()
    var isLive = false
    var isAtEnd = false
  }

  private var members: [Member] = []
  private var polled: [pollfd] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)

  /// Opens streams; those before `slow` take in next to nothing that they do not read. Of these and
  /// the one after them everything is kept.
  init(port: UInt16, path: String, count: Int, slow: Int) throws {
    for index in 0..<count {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw TimedOut("a descriptor: \(index) are open") }
      if index < slow {
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
      }
      members.append(Member(descriptor: descriptor, text: index <= slow ? [] : nil))
      polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
      try Self.connect(descriptor, port, index)
      let request = Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
      guard send(descriptor, request, request.count, 0) == request.count else {
        throw TimedOut("a request on stream \(index)")
      }
    }
  }

  deinit { for member in members { close(member.descriptor) } }

  /// From several addresses: one has only so many ports.
  private static func connect(_ descriptor: Int32, _ port: UInt16, _ index: Int) throws {
    var (own, server) = (sockaddr_in(), sockaddr_in())
    own.sin_family = sa_family_t(AF_INET)
    own.sin_addr.s_addr = UInt32(0x7F00_0101 + index % 16).bigEndian
    server.sin_family = sa_family_t(AF_INET)
    server.sin_port = port.bigEndian
    server.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafePointer(to: &own) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    let connected = withUnsafePointer(to: &server) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, size)
      }
    }
    guard bound == 0, connected == 0 else { throw TimedOut("a connection of stream \(index)") }
  }

  /// Reads what there is on some of the streams, and waits for something at most so long.
  func read(_ range: Range<Int>, milliseconds: Int32) {
    polled.withUnsafeMutableBufferPointer { polled in
      let part = UnsafeMutableBufferPointer(rebasing: polled[range])
      _ = poll(part.baseAddress, nfds_t(part.count), milliseconds)
    }
    for index in range where polled[index].revents != 0 { receive(index) }
  }

  /// Bytes that a stream was shown after its snapshot.
  func bytes(_ index: Int) -> Int { members[index].count }

  /// Whether all of these streams have got as far as a text, which is the last that comes.
  func have(_ text: String, _ range: Range<Int>) -> Bool {
    range.allSatisfy { index in
      members[index].isAtEnd || members[index].tail.contains(text: text)
    }
  }

  private func receive(_ index: Int) {
    let count = recv(members[index].descriptor, &buffer, buffer.count, 0)
    guard count > 0 else {
      members[index].isAtEnd = true
      polled[index].fd = -1
      return
    }
    members[index].take(buffer[..<count])
  }

  /// How many streams there are for each that was shown something else than the others.
  func kinds(_ range: Range<Int>) -> [String: Int] {
    range.reduce(into: [:]) { kinds, index in
      kinds["\(members[index].count) \(members[index].hash)", default: 0] += 1
    }
  }

  /// The events of a stream that was asked to keep them, without head and frames.
  func text(_ index: Int) -> [UInt8] {
    let bytes = members[index].text ?? []
    var result: [UInt8] = []
    var rest = bytes[
      (bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.endIndex)...]
    while let end = rest.firstRange(of: Array("\r\n".utf8)),
      let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16),
      rest.count >= size
    {
      result += rest[end.upperBound...].prefix(size)
      rest = rest[end.upperBound...].dropFirst(size + 2)
    }
    return result
  }
}

extension [UInt8] {
  /// By the library's own code, which is fast in a debug build too.
  fileprivate func contains(text: String) -> Bool {
    String(decoding: self, as: UTF8.self).contains(text)
  }
}

extension Crowd.Member {
  fileprivate var hash: Int { hasher.finalize() }

  fileprivate mutating func take(_ bytes: ArraySlice<UInt8>) {
    text?.append(contentsOf: bytes)
    tail += bytes
    var new = bytes[...]
    if !isLive {
      // From the chunk on in which the first change set comes.
      guard tail.contains(text: "event: willChange"),
        let start = tail.firstRange(of: Array("event: willChange".utf8))
      else { return }
      isLive = true
      new = tail[start.lowerBound...]
    }
    count += new.count
    new.withUnsafeBytes { hasher.combine(bytes: $0) }
    tail = tail.suffix(400)
  }
}
