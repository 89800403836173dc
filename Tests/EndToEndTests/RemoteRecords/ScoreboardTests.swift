import Foundation
import Testing

/// `Examples/Scoreboard`, a program that somebody else might write, in a package of its own.
@Suite(
  .promptTasks, .endToEnd,
  .enabled(if: Scoreboard.isBuilt, "Scripts/test --long builds Examples/Scoreboard"))
struct `The example` {
  @Test func `shows what changes, whatever cuts its connection`() throws {
    let teams = try Teams()
    let proxy = try CuttingProxy(teams.fixture.base)
    let board = try ChildProcess(Scoreboard.path, ["\(proxy.base)/v1/queries/players"])
    func expect(_ line: String) throws { #expect(try board.output.next() == line) }
    try expect("Blue: 3")
    for _ in 0..<8 { _ = try board.output.next() }
    for (score, bytes) in [(71, 1), (72, 150), (73, 400)] {
      // In the middle of a change set, or behind it.
      proxy.cut(after: bytes)
      try teams.writer.commit("UPDATE player SET score = \(score) WHERE id = 4")
      try expect("= id 4, name Dan, score \(score), team Green")
    }
    try teams.writer.commit("DELETE FROM player WHERE id = 4")
    try expect("- id 4, name Dan, score 73, team Green")
    try board.kill9()
  }

  @Test func `costs nothing while it polls`() throws {
    let teams = try Teams()
    let proxy = try CuttingProxy(teams.fixture.base)
    proxy.holdBack(true)
    let board = try ChildProcess(Scoreboard.path, ["\(proxy.base)/v1/queries/players"])
    for _ in 0..<9 { _ = try board.output.next() }
    // The first poll has answered; the next waits for a change.
    try teams.writer.commit("UPDATE player SET score = 71 WHERE id = 4")
    #expect(try board.output.next() == "= id 4, name Dan, score 71, team Green")
    let before = try board.processorTime()
    Thread.sleep(forTimeInterval: 2)
    #expect(try board.processorTime() - before < 0.1)
    try board.kill9()
  }

  @Test func `says what is wrong`() throws {
    let teams = try Teams()
    let result = try ChildProcess.run(
      Scoreboard.path, ["\(teams.fixture.base)/v1/queries/playrs"])
    #expect(result.exitCode == 1 && result.output.contains("players"), "\(result)")
    #expect(try ChildProcess.run(Scoreboard.path, []).exitCode == 64)
    // A name that is empty is none of the query's parameters.
    let nameless = try ChildProcess.run(
      Scoreboard.path, ["\(teams.fixture.base)/v1/queries/players", ""])
    #expect(nameless.exitCode == 1, "\(nameless)")
  }
}

private enum Scoreboard {
  static let path = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Examples/Scoreboard/.build/release/Scoreboard").standardized.path()

  static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: path) }
}
