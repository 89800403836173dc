import ArgumentParser
import Foundation

struct Reload: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Has a running server read its configuration again.",
    discussion: """
      Sends SIGHUP to the server that has the file of serve --pid-file, or to a process by its \
      number. Where the configuration has problems the server goes on as before, and its log says \
      which; didchange check --config FILE says so first.
      """)

  @Option(help: "The file that the server was given as serve --pid-file.", completion: .file())
  var pidFile: String?

  @Option(help: "The process of the server.")
  var pid: Int32?

  func validate() throws {
    guard (pidFile == nil) != (pid == nil) else {
      throw ValidationError("Name the server by one of --pid-file FILE and --pid NUMBER.")
    }
    // To kill(2) they are groups of processes.
    if let pid, pid <= 1 { throw ValidationError("--pid: \(pid) is no server") }
  }

  func run() throws {
    let process = try pidFile.map { try PIDFile.server(of: $0) } ?? pid ?? 0
    guard kill(process, SIGHUP) == 0 else { throw ClientError.system("process \(process)") }
  }
}
