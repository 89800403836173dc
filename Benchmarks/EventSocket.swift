import ArgumentParser
import Foundation

/// A blocking socket that reads an event stream.
// Unchecked: one thread uses it at a time.
final class EventSocket: @unchecked Sendable {
  private let descriptor: Int32
  private var received: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Opens a stream.
  convenience init(port: UInt16, path: String) throws {
    try self.init(port: port)
    try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try wait(for: "retry:")
  }

  private init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let code = Self.with(port: port, host: 1) { connect(descriptor, $0, $1) }
    guard code == 0 else { throw ValidationError("no connection") }
  }

  /// Sends a request, whose answer may be read some time.
  ///
  /// - Parameters:
  ///   - path: what is asked for.
  ///   - port: of the server.
  ///   - host: from which of the addresses 127.0.0.1 to 127.0.0.254: each has ports for some 28 000
  ///     connections to one server.
  ///   - fields: more lines of the head, each with its end.
  /// - Returns: the socket, which the caller closes.
  /// - Throws: where the server cannot be reached, or no descriptor is left.
  static func ask(
    _ path: String, port: UInt16, from host: UInt8 = 1, fields: String = ""
  ) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isBound = with(port: 0, host: host) { bind(descriptor, $0, $1) } == 0
    let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
    guard isBound, with(port: port, host: 1, { connect(descriptor, $0, $1) }) == 0,
      request.withCString({ Foundation.send(descriptor, $0, strlen($0), 0) })
        == request.utf8.count
    else {
      close(descriptor)
      throw ValidationError("no connection: \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  private static func with(
    port: UInt16, host: UInt8, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(host)).bigEndian
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private func send(_ text: String) throws {
    let sent = text.withCString { Foundation.send(descriptor, $0, strlen($0), 0) }
    guard sent == text.utf8.count else { throw ValidationError("the server does not listen") }
  }

  private func answer(to path: String) throws -> String {
    try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: received, as: UTF8.self) }
      received += buffer[..<count]
    }
  }

  deinit { close(descriptor) }

  /// Reads until `text` has come.
  func wait(for text: String) throws {
    let pattern = Array(text.utf8)
    while true {
      if let range = received.firstRange(of: pattern) {
        received.removeSubrange(..<range.upperBound)
        return
      }
      received.removeFirst(max(0, received.count - pattern.count))
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw ValidationError(
          "the stream ended (\(count), \(errno)): " + String(decoding: received, as: UTF8.self))
      }
      received += buffer[..<count]
    }
  }
}

extension EventSocket {
  /// What a GET answers, whole, head and all.
  static func get(_ path: String, port: UInt16) throws -> String {
    try EventSocket(port: port).answer(to: path)
  }
}
