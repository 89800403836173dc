import Foundation
import Locks

/// What stands between a client and a server, and does not pass all that comes.
final class CuttingProxy: Sendable {
  private struct State {
    /// Bytes to the client until all connections are cut; nil: they are not.
    var allowance: Int?
    var refuses = false
    var holdsBack = false
    /// Connections from this one on pass nothing to clients; nil: all do.
    var firstFrozen: Int?
    /// Bytes to the client until all connections are frozen; nil: they are not.
    var warmth: Int?
    var numberOfAdmissions = 0
    var numberOfPasses = 0
    /// Connections that were cut while something came over them.
    var cuts = 0
  }

  private struct Connection {
    let client: Int32
    let server: Int32
  }

  /// The connections whose descriptors are open: once closed, their numbers may be those of others.
  private final class Connections: Sendable {
    private let open = Mutex<[Connection]>([])

    func add(_ connection: Connection) { open.withLock { $0.append(connection) } }

    func shutAll() { open.withLock { $0.forEach(CuttingProxy.shut) } }

    func close(_ connection: Connection) {
      open.withLock { open in
        open.removeAll { $0.client == connection.client }
        CuttingProxy.closeBoth(connection)
      }
    }
  }

  private let listener: Int32
  private let target: UInt16
  private let state = Mutex(State())
  private let connections = Connections()
  let base: String

  /// Stands before a server: `http://127.0.0.1:8080`.
  init(_ server: String) throws {
    guard let port = server.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw ContractViolation("no port in \(server)")
    }
    target = port
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
        return false
      }
      return bind(listener, pointer, size) == 0 && listen(listener, 64) == 0
        && getsockname(listener, pointer, &size) == 0
    }
    guard isBound else { throw ContractViolation("no port for a proxy: \(errno)") }
    self.listener = listener
    base = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    Thread.detachNewThread { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else {
          if client >= 0 { close(client) }
          close(listener)
          return
        }
        self.admit(client)
      }
    }
  }

  deinit {
    // Wakes its thread, which closes it.
    shutdown(listener, Int32(SHUT_RDWR))
    cut()
  }

  // MARK: - What it does

  /// Cuts all connections.
  func cut() { connections.shutAll() }

  /// Cuts all connections when so many more bytes have passed to clients.
  func cut(after bytes: Int) { state.withLock { $0.allowance = bytes } }

  /// How often that has happened.
  var numberOfCuts: Int { state.withLock(\.cuts) }

  /// Lets nobody in, as a server that is down.
  func refuse(_ refuses: Bool) {
    state.withLock { $0.refuses = refuses }
    if refuses { cut() }
  }

  /// Passes answers when they are over, as some proxies do.
  func holdBack(_ holdsBack: Bool) { state.withLock { $0.holdsBack = holdsBack } }

  /// Passes nothing to clients, and closes nothing.
  func freeze(_ isFrozen: Bool) { state.withLock { $0.firstFrozen = isFrozen ? 0 : nil } }

  /// Freezes all connections when so many more bytes have passed to clients.
  func freeze(after bytes: Int) { state.withLock { $0.warmth = bytes } }

  /// Freezes this connection and those that came after it, and no others; the first one is 0.
  func freeze(from connection: Int) { state.withLock { $0.firstFrozen = connection } }

  /// Connections that were let in, ever.
  var numberOfAdmissions: Int { state.withLock(\.numberOfAdmissions) }

  /// How often something has passed to a client.
  var numberOfPasses: Int { state.withLock(\.numberOfPasses) }

  private func isFrozen(_ connection: Int) -> Bool {
    state.withLock { $0.firstFrozen.map { $0 <= connection } ?? false }
  }

  /// How many of so many bytes pass before all is frozen.
  private func warm(_ count: Int) -> Int {
    state.withLock { state in
      guard let warmth = state.warmth else { return count }
      state.warmth = warmth > count ? warmth - count : nil
      if warmth <= count { state.firstFrozen = 0 }
      return min(warmth, count)
    }
  }

  // MARK: - Connections

  private func admit(_ client: Int32) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(target)
    let isConnected = withUnsafeBytes(of: &address) { bytes in
      bytes.baseAddress.map {
        connect(
          server, $0.assumingMemoryBound(to: sockaddr.self),
          socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      } ?? false
    }
    let connection = Connection(client: client, server: server)
    let number: Int? = state.withLock { state in
      guard isConnected, !state.refuses else { return nil }
      connections.add(connection)
      defer { state.numberOfAdmissions += 1 }
      return state.numberOfAdmissions
    }
    guard let number else { return Self.closeBoth(connection) }
    let pumps = DispatchGroup()
    pumps.enter()
    pumps.enter()
    Thread.detachNewThread { [weak self] in
      while let bytes = Self.read(client), self != nil, Self.write(bytes, to: server) {}
      Self.shut(connection)
      pumps.leave()
    }
    Thread.detachNewThread { [weak self] in
      var held: [UInt8] = []
      var frozen: [UInt8] = []
      while var bytes = frozen.isEmpty ? Self.read(server) : frozen {
        while self?.isFrozen(number) == true { Thread.sleep(forTimeInterval: 0.005) }
        guard let self else { break }
        frozen = Array(bytes[self.warm(bytes.count)...])
        bytes.removeLast(frozen.count)
        let (passed, isCut) = self.pass(held + bytes)
        held = passed.isEmpty ? held + bytes : []
        let isWritten = Self.write(passed, to: client)
        if isCut { self.cut() }
        if isCut || !isWritten { break }
      }
      Self.shut(connection)
      pumps.leave()
    }
    // Both are done with the descriptors, whose numbers may be given to others from now on.
    pumps.notify(queue: .global()) { [connections] in connections.close(connection) }
  }

  /// What of these bytes goes on to the client now, and whether all is cut behind them.
  private func pass(_ bytes: [UInt8]) -> (passed: [UInt8], isCut: Bool) {
    state.withLock { state in
      if state.holdsBack, Self.isUnfinished(bytes) { return ([], false) }
      state.numberOfPasses += 1
      guard var allowance = state.allowance else { return (bytes, false) }
      // Behind a head at the earliest: up to Swift 6.3, URLSession ends the process on Linux where a
      // connection ends inside of one (swift-corelibs-foundation, "there's no response").
      allowance = max(allowance, Self.headLength(bytes))
      let isCut = allowance <= bytes.count
      state.allowance = isCut ? nil : allowance - bytes.count
      if isCut { state.cuts += 1 }
      return (Array(bytes.prefix(allowance)), isCut)
    }
  }

  /// How long the head is that bytes begin with; 0: they begin with none.
  private static func headLength(_ bytes: [UInt8]) -> Int {
    guard bytes.starts(with: "HTTP/1.".utf8) else { return 0 }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.range(of: "\r\n\r\n").map {
      text.utf8.distance(from: text.startIndex, to: $0.upperBound)
    }
      ?? bytes.count
  }

  /// RFC 9112 §7.1: a chunked answer ends with an empty chunk.
  private static func isUnfinished(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    return text.contains("transfer-encoding: chunked") && !text.hasSuffix("\r\n0\r\n\r\n")
  }

  // MARK: - Sockets

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      return count > 0 ? Array(buffer[..<count]) : nil
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func shut(_ connection: Connection) {
    shutdown(connection.client, Int32(SHUT_RDWR))
    shutdown(connection.server, Int32(SHUT_RDWR))
  }

  private static func closeBoth(_ connection: Connection) {
    close(connection.client)
    close(connection.server)
  }
}
