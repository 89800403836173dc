import ArgumentParser
import Foundation

/// A server under load, a process of its own on the first core.
final class Peer {
  let name: String
  let port: Int
  /// Where events are had, and where they are published.
  var streamPath: String? = "/sse"
  var publishPath = "/pub"
  /// Where 10 kB are had.
  var pagePath: String? = "/json10k"
  /// What makes the answer to it 304.
  var entityTag: String?
  private let process = Process()

  /// Starts a program and waits until it listens.
  init(_ name: String, port: Int, _ command: [String]) throws {
    self.name = name
    self.port = port
    process.executableURL = URL(fileURLWithPath: "/usr/bin/taskset")
    process.arguments = ["-c", "0"] + command
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    for _ in 0..<500 where !isListening { usleep(20_000) }
    guard isListening else { throw ValidationError("\(name) did not start") }
  }

  /// `taskset` becomes the program; nginx has a worker below it.
  var processIDs: [Int32] {
    let own = process.processIdentifier
    let path = "/proc/\(own)/task/\(own)/children"
    let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return [own] + children.split(separator: " ").compactMap { Int32($0) }
  }

  func stop() {
    process.terminate()
    // Not every server ends while it has streams.
    for _ in 0..<100 where process.isRunning { usleep(20_000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// Whether somebody takes a connection.
  private var isListening: Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  // MARK: - Load

  /// What ssebench says, by its names.
  func stream(_ tools: Tools, streams: Int, events: Int, window: Int) throws -> [String: Double] {
    guard let streamPath else { return [:] }
    let text = try Tool.run(
      "/usr/bin/taskset",
      [
        "-c", "1", tools.ssebench, "--port", "\(port)", "--path", streamPath, "--pub-path",
        publishPath, "--n", "\(streams)", "--events", "\(events)", "--window", "\(window)", "--gap",
        "10", "--pids", processIDs.map(String.init).joined(separator: ","), "--label", "x",
      ])
    let pairs = text.split { $0 == " " || $0 == "\n" }.compactMap { word -> (String, Double)? in
      let parts = word.split(separator: "=")
      guard parts.count == 2, let value = Double(parts[1]) else { return nil }
      return (String(parts[0]), value)
    }
    return Dictionary(pairs) { $1 }
  }

  /// GETs a second on 64 connections, and the server's own time for each in microseconds, which a
  /// busy machine changes less.
  func requests(
    _ path: String?, fields: [String] = [], seconds: Int
  ) throws -> (rate: Double, cpu: Double)? {
    guard let path else { return nil }
    let before = cpuTime
    let text = try Tool.run(
      "/usr/bin/taskset",
      ["-c", "1", "wrk", "-t1", "-c64", "-d\(seconds)s"] + fields.flatMap { ["-H", $0] }
        + ["http://127.0.0.1:\(port)\(path)"])
    guard let rate = text.firstMatch(of: /Requests\/sec: +([0-9.]+)/).flatMap({ Double($0.1) }),
      let count = text.firstMatch(of: /([0-9]+) requests in/).flatMap({ Double($0.1) }), count > 0
    else { return nil }
    return (rate, (cpuTime - before) / count)
  }

  /// User and system time so far, in microseconds: man 5 proc.
  private var cpuTime: Double {
    processIDs.reduce(0) { sum, process in
      let folder = "/proc/\(process)/task"
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return tasks.reduce(sum) { sum, task in
        let path = "\(folder)/\(task)/schedstat"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e3
      }
    }
  }
}

/// Runs a program to its end.
enum Tool {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  @discardableResult
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failed(description: "\(program) \(arguments.joined(separator: " ")): \(text)")
    }
    return text
  }
}

/// The C programs, built into a folder that goes with the value.
final class Tools {
  private let folder: URL
  var rawsse: String { folder.appending(path: "rawsse").path }
  var ssebench: String { folder.appending(path: "ssebench").path }

  init(sources: String) throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "didchange-tools-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["rawsse", "ssebench"] {
      try Tool.run(
        "/usr/bin/cc",
        [
          "-O2", "-w", "-pthread", "-o", folder.appending(path: name).path, "\(sources)/\(name).c",
        ])
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A file in the folder.
  func write(_ name: String, _ text: String) throws -> String {
    let url = folder.appending(path: name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url.path
  }
}
