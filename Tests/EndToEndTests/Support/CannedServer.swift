import Foundation

/// A server that is none of ours: what it answers depends on the request's first line only.
final class CannedServer: Sendable {
  /// What is sent, and whether the connection is closed behind it.
  typealias Answer = @Sendable (_ requestLine: String) -> (text: String, closes: Bool)

  private let listener: Int32
  let base: String

  init(_ answer: @escaping Answer) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.baseAddress.map {
        let pointer = $0.assumingMemoryBound(to: sockaddr.self)
        return bind(listener, pointer, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, pointer, &size) == 0
      } ?? false
    }
    guard isBound else { throw ContractViolation("no port for a server: \(errno)") }
    self.listener = listener
    base = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          close(listener)
          return
        }
        Thread.detachNewThread { Self.serve(client, answer) }
      }
    }
  }

  /// Wakes its thread, which closes it.
  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func serve(_ client: Int32, _ answer: Answer) {
    defer { close(client) }
    var received = ""
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      while let end = received.range(of: "\r\n\r\n") {
        let (text, closes) = answer(received.components(separatedBy: "\r\n")[0])
        received.removeSubrange(..<end.upperBound)
        let bytes = Array(text.utf8)
        guard send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count, !closes else {
          return
        }
      }
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      received += String(decoding: buffer[..<count], as: UTF8.self)
    }
  }
}
