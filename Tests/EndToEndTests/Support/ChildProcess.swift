import Foundation
import TestSupport

/// Another program, whose lines and end are waited for.
final class ChildProcess {
  private let process: SpawnedProcess
  private let command: String
  let output: LineReader
  let errors: LineReader

  /// Starts `program`, a path or a name on the PATH.
  ///
  /// With `joinsErrors`, what it writes to its standard error comes with its output. What is `passed`
  /// is its descriptor 3.
  init(
    _ program: String, _ arguments: [String] = [], joinsErrors: Bool = false,
    passing passed: Int32? = nil
  ) throws {
    process = try SpawnedProcess(program, arguments, joinsErrors: joinsErrors, passing: passed)
    command = ([program] + arguments).joined(separator: " ")
    output = LineReader(process.output)
    errors = LineReader(process.errors)
  }

  deinit {
    if process.isRunning { process.signal(SIGKILL) }
    closeInput()
  }

  var identifier: pid_t { process.identifier }

  /// Whether it has not ended yet.
  var isRunning: Bool { process.isRunning }

  func write(_ text: String) throws { try process.input.write(text) }

  func closeInput() { process.input.close() }

  func signal(_ number: Int32) { process.signal(number) }

  /// Ends it as if it had crashed, and waits until it is gone.
  func kill9() throws {
    signal(SIGKILL)
    _ = try exitCode()
  }

  /// Waits for its end.
  ///
  /// - Returns: the exit code, or the negated number of the signal that ended it.
  func exitCode(within timeout: TimeInterval = patience) throws -> Int {
    guard let code = process.exitCode(within: timeout) else {
      throw TimedOut("the end of \(command)")
    }
    return code
  }

  /// Runs a program to its end.
  static func run(
    _ program: String, _ arguments: [String], input: String = ""
  ) throws -> (exitCode: Int, output: String, errors: String) {
    let process = try ChildProcess(program, arguments)
    try process.write(input)
    process.closeInput()
    let output = try process.output.rest().joined(separator: "\n")
    let errors = try process.errors.rest().joined(separator: "\n")
    return (try process.exitCode(), output, errors)
  }
}
