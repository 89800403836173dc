import ArgumentParser
import Foundation

/// Varnish with the recipe of `Scripts/proxies`, before a server of this machine.
final class VarnishProcess {
  private static let recipe = "Scripts/proxies/varnish.vcl"
  private static let portOfRecipe = #".port = "8080""#

  let port: UInt16
  private let process = Process()
  private let folder: URL

  /// - Parameters:
  ///   - executable: Varnish's.
  ///   - port: where it listens.
  ///   - origin: the server's port.
  ///   - clients: at the same time; each takes a thread.
  /// - Throws: where it does not start.
  init(_ executable: String, port: UInt16, before origin: UInt16, clients: Int) throws {
    self.port = port
    folder = FileManager.default.temporaryDirectory
      .appending(path: "didchange-varnish-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let recipe = try String(contentsOfFile: Self.recipe, encoding: .utf8)
    guard recipe.contains(Self.portOfRecipe) else {
      throw ValidationError("no \(Self.portOfRecipe) in \(Self.recipe)")
    }
    let file = folder.appending(path: "didchange.vcl").path
    try recipe.replacing(Self.portOfRecipe, with: ".port = \"\(origin)\"")
      .write(toFile: file, atomically: true, encoding: .utf8)
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = [
      "-F", "-j", "none", "-n", folder.appending(path: "varnish").path, "-f", file,
      "-a", "127.0.0.1:\(port)", "-s", "malloc,256m", "-p", "thread_pools=2",
      "-p", "thread_pool_min=100", "-p", "thread_pool_max=\(max(200, clients))",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    try waitUntilReady()
  }

  /// Ends it without waiting for its streams.
  func end() { kill(process.processIdentifier, SIGKILL) }

  deinit {
    end()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  private func waitUntilReady() throws {
    for _ in 0..<500 where process.isRunning {
      if (try? EventSocket.get("/healthz", port: port))?.contains("200 OK") == true { return }
      usleep(20_000)
    }
    throw ValidationError("Varnish does not answer on port \(port)")
  }

  /// The processes that it is: one watches the one that works.
  private var identifiers: [Int32] {
    let watcher = process.processIdentifier
    let path = "/proc/\(watcher)/task/\(watcher)/children"
    let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return [watcher] + children.split(separator: " ").compactMap { Int32($0) }
  }

  /// User and system time so far, in milliseconds.
  var cpuTime: Double { identifiers.reduce(0) { $0 + Measure.cpuTime(of: $1) } }

  /// In megabytes.
  var residentMemory: Double {
    identifiers.reduce(0) { $0 + Measure.residentMemory(of: "\($1)") }
  }
}
