import Foundation

/// Another process that runs a list of transactions as fast as it can, errors and all.
package final class ForeignScript {
  private let process: SpawnedProcess
  /// How many transactions it was given.
  package let count: Int

  /// Keeps the list in `folder` until the process has read it.
  ///
  /// Between two transactions it waits for a random time up to `pause`, in seconds.
  package init(
    _ path: String, transactions: [[String]], pause: Double = 0, folder: TemporaryFolder
  ) throws {
    count = transactions.count
    let script = folder.file("script-\(UUID().uuidString).sql")
    let lines = transactions.map { $0.joined(separator: "\n") + "\nend\n" }
    try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: script))
    process = try SpawnedProcess("python3", ["-c", Self.program, path, script, "\(pause)"])
  }

  deinit { kill() }

  package var isRunning: Bool { process.isRunning }

  /// Ends the process as if it had crashed.
  package func kill() {
    guard process.isRunning else { return }
    process.signal(SIGKILL)
    _ = process.exitCode(within: 20)
  }

  private static let program = """
    import os, random, sqlite3, sys, time
    lines = open(sys.argv[2]).read().splitlines()
    os.remove(sys.argv[2])
    pause = float(sys.argv[3])
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA foreign_keys = ON")
    for line in lines:
        try:
            if line == "end":
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if pause:
                    time.sleep(random.random() * pause)
            else:
                connection.execute(line).fetchall()
        except sqlite3.Error:
            pass
    """
}
