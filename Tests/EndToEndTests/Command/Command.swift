import Foundation

/// The `didchange` executable as a process of its own.
final class Command {
  let process: ChildProcess
  /// Where it listens, as its one line on standard output says.
  private(set) var base = ""

  init(_ arguments: [String]) throws {
    process = try ChildProcess(Self.path, arguments)
  }

  /// Starts `serve` on a free port, and waits until it is ready.
  static func serve(_ arguments: [String]) throws -> Command {
    let command = try Command(["serve", "--port", "0"] + arguments)
    let line = try command.process.output.next()
    guard let line, let match = line.wholeMatch(of: /listening on (http:\/\/127\.0\.0\.1:[0-9]+)/)
    else {
      throw ContractViolation(
        "\(line ?? "nothing") instead of listening on: \(try command.process.errors.rest())")
    }
    command.base = String(match.1)
    return command
  }

  static func run(_ arguments: [String]) throws -> (exitCode: Int, output: String, errors: String) {
    try ChildProcess.run(path, arguments)
  }

  /// The build puts it beside the bundle of the tests.
  private static var path: String {
    let here = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    return here.resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("didchange").path
  }
}
