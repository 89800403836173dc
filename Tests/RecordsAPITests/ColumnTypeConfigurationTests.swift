import FetchedRecords
import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import RecordsAPI

@Suite struct `The types of columns` {
  @Test func `are read by name`() throws {
    let configuration = try Configuration.parse(
      """
      queries:
        a:
          table: t
          columns: {a: boolean, b: date, c: datetime, d: json, e: raw, f: {blob: image/svg+xml},
            g: {blob: "text/plain; charset=utf-8"}}
        b: {table: t}
        c: {table: t, columns: raw}
        d: {table: t, columns: declared}
      """, file: "c.yaml")
    let types = configuration.queries.map(\.columnTypes)
    #expect(types[0].areInferred)
    #expect(
      types[0].declared == [
        "a": .boolean, "b": .date(readsNumbers: true), "c": .datetime(readsNumbers: true),
        "d": .json, "e": nil, "f": .blob(mediaType: "image/svg+xml"),
        "g": .blob(mediaType: "text/plain; charset=utf-8"),
      ])
    #expect(types[1] == .inferred)
    #expect(types[2] == ColumnTypes())
    #expect(types[3] == .inferred)
  }

  @Test func `of the file hold for the queries that say nothing else`() throws {
    let configuration = try Configuration.parse(
      """
      queries:
        a: {table: t, columns: {a: boolean}}
        b: {table: t}
        c: {table: t, columns: declared}
      columns: raw
      """, file: "c.yaml")
    let types = configuration.queries.map(\.columnTypes)
    #expect(types.map(\.areInferred) == [false, false, true])
    #expect(types[0].declared == ["a": .boolean])
    #expect(!configuration.columnTypes.areInferred)
  }

  @Test(arguments: [
    ("[id, name]", 34, "`columns` is a list, not a mapping; write {NAME: TYPE}; which columns"),
    ("rwa", 34, "`columns` is \"rwa\", neither declared nor raw; write one of the two, or"),
    ("7", 34, "`columns` is the number 7, not a mapping; write {NAME: TYPE}"),
    ("{a: bool}", 38, "\"bool\" is not a type of a column; did you mean \"boolean\"?"),
    ("{a: jsno}", 38, "\"jsno\" is not a type of a column; did you mean \"json\"?"),
    (
      "{a: colour}", 38,
      "\"colour\" is not a type of a column; the types are boolean, date, datetime, json, raw, "
        + "{blob: MEDIA/TYPE}"
    ),
    ("{a: image/png}", 38, "\"image/png\" is not a type of a column; write {blob: image/png}"),
    ("{a: blob}", 38, "\"blob\" is not a type of a column; write {blob: image/png}"),
    ("{a: {blob: png}}", 45, "`blob` is \"png\", which is no media type; write TYPE/SUBTYPE"),
    ("{a: {blob: \"a/b\\r\\nX: y\"}}", 45, "which is no media type"),
    ("{a: {blob: 7}}", 45, "`blob` is the number 7, not text"),
    ("{a: {mediaType: a/b}}", 39, "is not a word of a column's type; did you mean \"blob\"?"),
    ("{a: {}}", 38, "the type of \"a\" is empty; write {blob: image/png}"),
    ("{a: [json]}", 38, "the type of \"a\" is a list, not text"),
  ])
  func `are told what is wrong with them, and where`(
    columns: String, column: Int, problem: String
  ) throws {
    let found = problems("queries: {a: {table: t, columns: \(columns)}}")
    try #require(found.count == 1, "\(found)")
    #expect(found[0].hasPrefix("c:1:\(column): "), "\(found[0])")
    #expect(found[0].contains(problem), "\(found[0])")
  }

  @Test func `of the file are one word`() {
    #expect(
      problems("columns: {a: json}\nqueries: {a: {table: t}}") == [
        "c:1:10: `columns` is a mapping, not text; write declared or raw"
      ])
  }

  @Test func `must be of columns of the result, and have a key where they are URLs`() throws {
    let found = try refusals(
      """
      queries:
        a:
          table: player
          fields: [id, name]
          columns: {nmae: json}
        b:
          sql: SELECT name, photo FROM player UNION SELECT name, photo FROM player
          columns:
            name: raw
            photo: {blob: image/png}
      """, schema: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, photo BLOB)")
    #expect(
      found == [
        "c:5:15: nmae is not a column of the result; did you mean \"name\"?",
        "c:10:7: photo is shown by a URL, and the records have no key that could stand in it; "
          + "say under `key` which columns identify a record, or leave the type out",
      ])
  }
}
