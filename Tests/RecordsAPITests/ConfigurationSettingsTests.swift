import FetchedRecords
import Foundation
import QueryAnalysis
import TestSupport
import Testing

@testable import RecordsAPI

@Suite struct `The settings of a server` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ yaml: String) throws -> String { try folder.write(yaml, to: "c.yaml") }

  @Test func `name no database and no query where nothing is said`() throws {
    let settings = try LaunchSettings(database: nil, configurationFile: nil)
    #expect(settings.database == nil)
    #expect(settings.queries.isEmpty)
    #expect(settings.listen.description == "127.0.0.1:8080")
  }

  @Test func `are every table and view where only a database is named`() throws {
    let settings = try LaunchSettings(database: "/dev/null", configurationFile: nil)
    #expect(settings.database == "/dev/null")
    #expect(settings.queries.isEmpty)
  }

  @Test func `prefer the command line to the file`() throws {
    let file = try write("{database: f.db, listen: \"0.0.0.0:1\", queries: {q: {table: t}}}")
    let database = try folder.write("", to: "f.db")
    var settings = try LaunchSettings(database: "/dev/null", configurationFile: file)
    #expect(settings.database == "/dev/null")
    #expect(settings.queries.map(\.name) == ["q"])
    settings = try LaunchSettings(database: nil, configurationFile: file)
    #expect(settings.database == database)
    #expect(try settings.listen.with(host: nil, port: 2).description == "0.0.0.0:2")
    #expect(try settings.listen.with(host: "::1", port: nil).description == "[::1]:1")
  }

  @Test func `are refused where queries have no database`() throws {
    let file = try write("queries: {q: {table: t}}")
    #expect {
      try LaunchSettings(database: nil, configurationFile: file)
    } throws: { error in
      "\(error)".hasSuffix(
        "c.yaml:1:1: no database is named; add \"database: FILE\", or name one on the command line")
    }
  }

  @Test func `are refused where there is no such database`() throws {
    let file = try write("queries: {q: {table: t}}\ndatabase: leage.sqlite")
    try folder.write("", to: "league.sqlite")
    #expect {
      try LaunchSettings(database: nil, configurationFile: file)
    } throws: { error in
      "\(error)".hasPrefix("\(file):2:11: there is no database ")
        && "\(error)".hasSuffix("leage.sqlite; did you mean \"league.sqlite\"?")
    }
    #expect {
      try LaunchSettings(database: folder.path, configurationFile: nil)
    } throws: { error in
      "\(error)".contains("is a folder")
    }
  }

  @Test func `find the page where it was put`() throws {
    let executable = URL(fileURLWithPath: folder.file("bin/didchange"))
    let shared = try folder.makeFolder("share/didchange/Public")
    #expect(try PublicFolder.find(named: nil, environment: [:], executable: executable) == shared)
    let beside = try folder.makeFolder("bin/Public")
    #expect(try PublicFolder.find(named: nil, environment: [:], executable: executable) == beside)
    let variable = [PublicFolder.variable: shared]
    #expect(
      try PublicFolder.find(named: nil, environment: variable, executable: executable) == shared)
    #expect(
      try PublicFolder.find(named: beside, environment: variable, executable: executable) == beside)
  }

  @Test func `refuse a page that is not where it was said to be`() throws {
    #expect(throws: PublicFolder.NoFolder(description: "--public: there is no folder nowhere")) {
      try PublicFolder.find(named: "nowhere", environment: [:], executable: nil)
    }
    let file = try write("")
    #expect(throws: PublicFolder.NoFolder.self) {
      try PublicFolder.find(
        named: nil, environment: [PublicFolder.variable: file], executable: nil)
    }
  }
}
