import Foundation
import TestSupport
import Testing

@testable import RecordsAPI

@Suite struct `All problems of a configuration` {
  @Test func `are told at once and in the order of the file`() {
    let yaml = """
      listen: nowhere
      queries:
        a/b:
          table: t
          order: name
          wehre: x
        c: {}
      databse: x.db
      """
    #expect(
      problems(yaml) == [
        "c:1:9: `listen`: \"nowhere\" has no port; write HOST:PORT, for example 127.0.0.1:8080 or "
          + "[::1]:8080",
        "c:3:3: the name \"a/b\" does not fit into a URL, because of \"/\"; use letters of ASCII, "
          + "digits, \"-\", \".\", \"_\" and \"~\", as in \"a-b\"",
        "c:5:12: `order` is text, not a list; write [name]",
        "c:6:5: \"wehre\" is not a word of a query; did you mean \"where\"?",
        "c:7:3: the query \"c\" has neither `table` nor `sql`; name a table or view, or write a "
          + "SELECT",
        "c:8:1: \"databse\" is not a word of the configuration; did you mean \"database\"?",
      ])
  }

  @Test func `are told beside keys that are there twice`() {
    let yaml = """
      queries:
        a: {table: t, "table": u, wehre: x}
        b:
          table: t
          parameters:
            p: {type: text}
            q: {type: text, type: text, type: int}
            p: {type: integer}
        a:
          table: t
          title: 1
      listen: localhost:1
      listen: localhost:2
      """
    #expect(
      problems(yaml) == [
        "c:7:23: \"type\" is there twice, first on line 7; keep one of the two",
        "c:7:35: \"type\" is there twice, first on line 7; keep one of the two",
        "c:7:41: \"int\" is not a type; did you mean \"integer\"?",
        "c:8:7: \"p\" is there twice, first on line 6; keep one of the two",
        "c:9:3: \"a\" is there twice, first on line 2; keep one of the two",
        "c:11:12: `title` is the number 1, not text; put it in quotes: \"1\"",
        "c:13:1: \"listen\" is there twice, first on line 12; keep one of the two",
      ])
  }

  @Test func `end where a key is there twice in different words`() {
    #expect(
      problems("queries: {a: {\"t\\x61ble\": t, table: u}, b: {}}") == [
        "c:1:15: \"table\" is there twice; keep one of the two"
      ])
  }

  @Test(arguments: [
    ("queries:\n\ta: {}", "c:2:1: ", "; indent with spaces, not tabs"),
    ("queries: {a: ", "c:2:1: this is not YAML: ", ""),
    ("a: b: c", "c:1:5: this is not YAML: mapping values are not allowed", "in quotes"),
    ("queries:\n  a: @x", "c:2:6: this is not YAML: found character", "in quotes"),
    ("listen: *x", "c:1:9: this is not YAML: found undefined alias", ""),
    ("listen: a:1\n---\nlisten: a:2", "c:2:1: this is not YAML: but found another", "take out"),
    ("listen: \"a", "c:1:11: this is not YAML: found unexpected end of stream", ""),
    ("queries:\n  a: \u{1}", "c:2:6: this is not YAML: control characters", "(U+1)"),
  ])
  func `are YAML's own where the file is not YAML`(yaml: String, start: String, end: String) throws
  {
    let found = problems(yaml)
    try #require(found.count == 1)
    #expect(found[0].hasPrefix(start))
    #expect(found[0].contains(end) || end.isEmpty)
  }
}

@Suite struct `A configuration file` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func problem(_ name: String) -> String? {
    do {
      _ = try Configuration.read(file: folder.file(name))
      return nil
    } catch {
      return error.description.replacing(folder.path + "/", with: "")
    }
  }

  @Test func `that is not there is told with its neighbour`() throws {
    #expect(problem("didchange.yml") == "didchange.yml:1:1: there is no such file")
    try folder.write([], to: "didchange.yaml")
    #expect(
      problem("didchange.yml")
        == "didchange.yml:1:1: there is no such file; did you mean \"didchange.yaml\"?")
  }

  @Test func `that is a folder is none`() throws {
    try folder.makeFolder("d")
    #expect(problem("d") == "d:1:1: the file cannot be read; this is a folder; name a file")
  }

  @Test func `that is a pipe or a device is none`() throws {
    #expect(mkfifo(folder.file("c"), 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("zero"), withDestinationPath: "/dev/zero")
    for name in ["c", "zero"] {
      #expect(
        problem(name)
          == "\(name):1:1: this is no regular file; write the configuration to a file")
    }
  }

  @Test func `that is not UTF-8 is told with the place of the first wrong byte`() throws {
    try folder.write(Array("# ä\n# ü".utf8) + [0xFC, 0x0A], to: "c")
    #expect(problem("c") == "c:2:4: the file is not UTF-8: byte 0xFC; save it as UTF-8")
    try folder.write([0xFF, 0xFE, 0x61, 0x00], to: "c")
    #expect(problem("c") == "c:1:1: the file is not UTF-8: byte 0xFF; save it as UTF-8")
    try folder.write(Array("a: ".utf8) + [0xE2, 0x82], to: "c")
    #expect(problem("c") == "c:1:4: the file is not UTF-8: byte 0xE2; save it as UTF-8")
  }

  @Test func `may begin with a byte order mark`() throws {
    try folder.write([0xEF, 0xBB, 0xBF] + Array("lisen: a:1".utf8), to: "c")
    #expect(problem("c")?.hasPrefix("c:1:1: \"lisen\" is not a word") == true)
    try folder.write([0xEF, 0xBB, 0xBF] + Array("database: a.db".utf8), to: "c")
    let configuration = try Configuration.read(file: folder.file("c"))
    #expect(configuration.database == folder.file("a.db"))
  }
}
