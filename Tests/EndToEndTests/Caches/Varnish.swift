import Foundation
import TestSupport

/// Varnish with the recipe of `Scripts/proxies`, before a server of this machine.
final class Varnish {
  let base: String
  private let process: ChildProcess
  private let folder: TemporaryFolder

  /// Debian puts it where only root looks for programs.
  private static let program = ["/usr/sbin/varnishd", "/usr/local/sbin/varnishd"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  static var isInstalled: Bool { program != nil }

  /// Starts it, and waits until it has answered.
  ///
  /// - Parameter origin: the server's port.
  /// - Throws: where it does not start.
  init(before origin: String) throws {
    guard let program = Self.program else { throw TimedOut("varnishd is not installed") }
    folder = try TemporaryFolder()
    let port = try Self.freePort()
    base = "http://127.0.0.1:\(port)"
    let recipe = try folder.write(try Self.recipe(before: origin), to: "didchange.vcl")
    process = try ChildProcess(
      program,
      [
        "-F", "-j", "none", "-n", folder.file("varnish"), "-f", recipe, "-a", "127.0.0.1:\(port)",
        "-s", "malloc,64m", "-p", "thread_pools=2", "-p", "thread_pool_min=100",
        "-p", "thread_pool_max=1000",
      ], joinsErrors: true)
    try eventually("Varnish listens") {
      guard process.isRunning else {
        throw TimedOut("Varnish: \(try process.output.rest().joined(separator: "\n"))")
      }
      return (try? HTTPClient(base).get("/healthz").status) == 200
    }
  }

  // Otherwise it waits for the streams to end.
  deinit { try? process.kill9() }

  /// The recipe as it stands, but for the server's port.
  private static func recipe(before origin: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = root.appendingPathComponent("../../../Scripts/proxies/varnish.vcl").standardized
    let text = try String(contentsOf: file, encoding: .utf8)
    let port = #".port = "8080""#
    guard text.contains(port) else { throw TimedOut("no \(port) in \(file.path)") }
    return text.replacingOccurrences(of: port, with: #".port = "\#(origin)""#)
  }

  /// A port at which nobody listens.
  static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw TimedOut("a free port") }
    return UInt16(bigEndian: address.sin_port)
  }
}
