import Dispatch
import Foundation

/// Tells the service manager, where one started the process, how that is: sd_notify(3).
///
/// One datagram for each state to the socket that NOTIFY_SOCKET names; where nobody listens there,
/// nothing happens.
struct ServiceManager: Sendable {
  private let address: sockaddr_un?
  private let length: socklen_t

  init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    let name = Array((environment["NOTIFY_SOCKET"] ?? "").utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
      guard let first = name.first, name.count < field.count else { return false }
      field.copyBytes(from: name)
      // unix(7): the name of an abstract socket begins with a null byte, and has no end but the
      // address's.
      if first == UInt8(ascii: "@") { field[0] = 0 }
      return first == UInt8(ascii: "@") || first == UInt8(ascii: "/")
    }
    self.address = fits ? address : nil
    let prefix = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
    length = socklen_t(prefix + name.count)
  }

  /// The server answers.
  func ready() { tell("READY=1") }

  /// The configuration is being read again; ``ready()`` follows.
  func reloading() {
    // By CLOCK_MONOTONIC, which is Dispatch's clock on Linux.
    tell("RELOADING=1\nMONOTONIC_USEC=\(DispatchTime.now().uptimeNanoseconds / 1000)")
  }

  /// The server ends.
  func stopping() { tell("STOPPING=1") }

  private func tell(_ state: String) {
    guard var address else { return }
    let descriptor = socket(AF_UNIX, Self.datagram, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(state.utf8)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(descriptor, bytes, bytes.count, Self.noSignal, $0, length)
      }
    }
  }

  // Glibc has made enumerations of the constants.
  #if canImport(Glibc)
    private static let datagram = Int32(SOCK_DGRAM.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #else
    private static let datagram = SOCK_DGRAM
    private static let noSignal: Int32 = 0
  #endif
}
