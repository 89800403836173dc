import ArgumentParser
import Foundation

/// The product's server as a process of its own, on a port that the system chose.
final class ServerProcess {
  private let process = Process()
  let port: UInt16

  /// - Parameters:
  ///   - executable: of the product, built for release.
  ///   - database: the path of the file to serve.
  ///   - queries: in YAML, as under `queries:` of a configuration.
  ///   - settings: other lines of the configuration.
  ///   - port: where it listens; 0: the system chooses.
  /// - Throws: where it does not start.
  init(
    _ executable: String, database: String, queries: String, settings: String = "",
    port: UInt16 = 0
  ) throws {
    let configuration = database + ".yaml"
    let indented = queries.split(separator: "\n").map { "  \($0)\n" }.joined()
    try "database: \(database)\n\(settings)\nqueries:\n\(indented)".write(
      toFile: configuration, atomically: true, encoding: .utf8)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = [
      "serve", "--config", configuration, "--port", "\(port)", "--log-level", "error",
    ]
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard
      let port = line.split(separator: ":").last.flatMap({
        UInt16($0.trimmingCharacters(in: .whitespacesAndNewlines))
      })
    else { throw ValidationError("the server did not start: \(line)") }
    self.port = port
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  /// Ends it as an operator does; returns how long that took, in milliseconds.
  func terminate() -> Double {
    let start = ContinuousClock.now
    process.terminate()
    process.waitUntilExit()
    return (ContinuousClock.now - start).milliseconds
  }

  /// User and system time of the server so far, in milliseconds.
  var cpuTime: Double { Measure.cpuTime(of: process.processIdentifier) }

  /// Memory that is its own, in megabytes: man 5 proc.
  var residentMemory: Double { Measure.residentMemory(of: "\(process.processIdentifier)") }

  /// A number of `/metrics`.
  func metric(_ name: String) throws -> Double {
    let text = try EventSocket.get("/metrics", port: port)
    let line = text.split(separator: "\n").first { $0.hasPrefix("didchange_\(name) ") }
    return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
  }
}
