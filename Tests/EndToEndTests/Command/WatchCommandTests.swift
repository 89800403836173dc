import Foundation
import Testing

@Suite(.endToEnd) struct `didchange watch` {
  @Test func `shows what happens in lines`() throws {
    let teams = try Teams()
    let watch = try Command(["watch", "\(teams.fixture.base)/v1/queries/players/events"])
    var lines: [String] = []
    func read(upTo words: String) throws {
      while let line = try watch.process.output.next() {
        lines.append(line)
        if line.contains(words) { return }
      }
      throw ContractViolation("no \(words) in \(lines): \(try watch.process.errors.rest())")
    }
    try read(upTo: "[2,1]")
    #expect(lines.first?.hasPrefix("players  6 records in 3 sections  commit") == true)
    try teams.writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    try read(upTo: "update")
    #expect(
      lines.last
        == #"  = update [0,0] {"id":1,"name":"Ada","team":"Blue","score":11}  score was 10"#)
    #expect(watch.process.isRunning)
    try watch.process.kill9()
  }

  @Test func `goes on where it broke off`() throws {
    let teams = try Teams()
    let proxy = try CuttingProxy(teams.fixture.base)
    let watch = try Command(["watch", "\(proxy.base)/v1/events?query=players"])
    while let line = try watch.process.output.next(), !line.contains("[2,1]") {}
    proxy.cut()
    let words = try #require(try watch.process.errors.next())
    #expect(words.contains("; connecting again in "), "\(words)")
    try teams.writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    // No snapshot comes before it.
    #expect(try watch.process.output.next()?.contains("1 change") == true)
    #expect(try watch.process.output.next()?.hasPrefix("  = update [0,0]") == true)
    try watch.process.kill9()
  }

  @Test func `costs nothing while nothing happens`() throws {
    let teams = try Teams()
    let watch = try Command(["watch", "\(teams.fixture.base)/v1/queries/players/events"])
    while let line = try watch.process.output.next(), !line.contains("[2,1]") {}
    let before = try watch.processorTime()
    Thread.sleep(forTimeInterval: 2)
    #expect(try watch.processorTime() - before < 0.1)
    try watch.process.kill9()
  }

  @Test func `says why there is nothing to watch`() throws {
    let teams = try Teams()
    for (path, words) in [
      ("/v1/queries/playrs/events", "the server answers 404: "), ("/healthz", "no event stream"),
    ] {
      let result = try Command.run(["watch", teams.fixture.base + path])
      #expect(result.exitCode != 0)
      #expect(result.errors.contains(words), "\(result.errors)")
    }
    let result = try Command.run(["watch", "http://127.0.0.1:9/v1/queries/players/events"])
    #expect(result.exitCode != 0 && result.errors.contains("cannot be reached"), "\(result.errors)")
    #expect(try Command.run(["watch", "players"]).exitCode == 64)
  }

  @Test func `goes through the proxy that the environment names`() throws {
    let teams = try Teams()
    let url = "\(teams.fixture.base)/v1/queries/players/events"
    func watch(_ environment: String...) throws -> Command {
      try Command(
        ["watch", url], under: ["env", "http_proxy=http://127.0.0.1:9"] + environment)
    }
    let behind = try watch("no_proxy=")
    #expect(try behind.process.exitCode() != 0)
    #expect(try behind.process.errors.next()?.contains("cannot be reached") == true)
    let direct = try watch("no_proxy=127.0.0.1")
    #expect(try direct.process.output.next()?.hasPrefix("players  6 records") == true)
    try direct.process.kill9()
  }
}

@Suite(.endToEnd) struct `didchange healthcheck` {
  @Test func `tells by its exit code`() throws {
    let fixture = try ServerFixture(Teams.schema)
    let healthy = try Command.run(["healthcheck", "\(fixture.base)/healthz"])
    #expect(healthy.exitCode == 0, "\(healthy.errors)")
    fixture.drain()
    let gone = try Command.run(["healthcheck", "\(fixture.base)/healthz"])
    #expect(gone.exitCode != 0)
    #expect(gone.errors.contains("The server cannot be reached: 127.0.0.1"), "\(gone.errors)")
  }

  @Test func `asks the server itself, whatever proxy there is`() throws {
    let fixture = try ServerFixture(Teams.schema)
    let check = try Command(
      ["healthcheck", "\(fixture.base)/healthz"],
      under: ["env", "http_proxy=http://127.0.0.1:9", "no_proxy=example.org"])
    #expect(try check.process.exitCode() == 0)
  }

  @Test func `waits for the head only, and not for long`() throws {
    let fixture = try ServerFixture(Teams.schema)
    // An answer that has no end.
    let endless = try Command.run(["healthcheck", "\(fixture.base)/v1/queries/player/events"])
    #expect(endless.exitCode == 0, "\(endless.errors)")
    let proxy = try CuttingProxy(fixture.base)
    proxy.freeze(true)
    let silent = try Command.run(["healthcheck", "\(proxy.base)/healthz"])
    #expect(silent.exitCode != 0 && silent.errors.contains("cannot be reached"), "\(silent.errors)")
  }
}
