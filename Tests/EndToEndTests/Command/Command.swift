import Foundation
import Testing

/// The `didchange` executable as a process of its own.
final class Command {
  let process: ChildProcess
  /// Where it listens, as its one line on standard output says.
  private(set) var base = ""

  var port: String { base.split(separator: ":").last.map(String.init) ?? "" }

  /// Starts it, by another program where one is named.
  init(
    _ arguments: [String], under program: [String] = [], passing passed: Int32? = nil
  ) throws {
    let words = program + [Self.path] + arguments
    process = try ChildProcess(words[0], Array(words.dropFirst()), passing: passed)
  }

  /// Starts `serve`, on a free port unless one is named, and waits until it is ready.
  static func serve(
    _ arguments: [String], port: String = "0", under program: [String] = [],
    passing passed: Int32? = nil
  ) throws -> Command {
    let command = try Command(
      ["serve", "--port", port] + arguments, under: program, passing: passed)
    let line = try command.process.output.next()
    guard let line, let match = line.wholeMatch(of: /listening on (http:\/\/127\.0\.0\.1:[0-9]+)/)
    else {
      throw ContractViolation(
        "\(line ?? "nothing") instead of listening on: \(try command.process.errors.rest())")
    }
    command.base = String(match.1)
    return command
  }

  /// Reads the log until a line has `text` in it.
  ///
  /// - Returns: the lines before it.
  @discardableResult func waitForLog(_ text: String) throws -> [String] {
    var lines: [String] = []
    while let line = try process.errors.next() {
      if line.contains(text) { return lines }
      lines.append(line)
    }
    throw TimedOut("no \"\(text)\" in the log: \(lines)")
  }

  /// Reads the log until a line has `text` in it, and returns that; nil: it has ended.
  func line(with text: String) throws -> String? {
    while let line = try process.errors.next() {
      if line.contains(text) { return line }
    }
    return nil
  }

  static func run(_ arguments: [String]) throws -> (exitCode: Int, output: String, errors: String) {
    try ChildProcess.run(path, arguments)
  }

  /// The build puts it beside the bundle of the tests; `DIDCHANGE` names another.
  private static var path: String {
    if let path = ProcessInfo.processInfo.environment["DIDCHANGE"] { return path }
    let here = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    return here.resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("didchange").path
  }
}

extension Command {
  /// What the system holds in memory for it, `VmRSS`, or held at most, `VmHWM`: man 5 proc.
  func bytes(_ name: String) throws -> Int {
    let text = try String(
      contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
    let kibibytes = line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first
    return try #require(kibibytes) * 1024
  }

  /// Seconds of a processor that it has used.
  func processorTime() throws -> Double { try process.processorTime() }
}

extension ChildProcess {
  /// Seconds of a processor that it has used, in its own code and in the system's: man 5 proc.
  func processorTime() throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
    // Behind the name, which may be anything.
    let words = try #require(text.split(separator: ")").last).split(separator: " ")
    let ticks = try #require(Double(words[11])) + #require(Double(words[12]))
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
