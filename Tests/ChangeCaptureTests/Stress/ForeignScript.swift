import Foundation

/// Another process that runs a list of transactions as fast as it can, errors and all.
final class ForeignScript {
  private let process = Process()

  /// Keeps the list in `folder` until the process has read it.
  init(_ path: String, transactions: [[String]], folder: TemporaryFolder) throws {
    let script = folder.file("script-\(UUID().uuidString).sql")
    let lines = transactions.map { $0.joined(separator: "\n") + "\nend\n" }
    try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: script))
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.program, path, script]
    try process.run()
  }

  deinit { kill() }

  var isRunning: Bool { process.isRunning }

  /// Ends the process as if it had crashed.
  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static let program = """
    import os, sqlite3, sys
    lines = open(sys.argv[2]).read().splitlines()
    os.remove(sys.argv[2])
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA foreign_keys = ON")
    for line in lines:
        try:
            if line == "end":
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            else:
                connection.execute(line).fetchall()
        except sqlite3.Error:
            pass
    """
}
