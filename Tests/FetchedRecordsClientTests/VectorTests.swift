import Foundation
import Testing

@testable import FetchedRecordsClient

/// A record of any query.
typealias AnyRecord = [String: RemoteValue]

/// The change sets in `Tests/Vectors`, which the server and the JavaScript client share.
@Suite struct `Shared change sets` {
  struct Vector: CustomTestStringConvertible {
    let file: String
    let json: RawJSON
    var testDescription: String { json["name"]?.plain ?? file }
  }

  static let vectors: [Vector] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Vectors")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
    return files.filter { $0.hasSuffix(".json") }.sorted().compactMap { file in
      guard let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8) else {
        Issue.record("\(file) cannot be read")
        return nil
      }
      return Vector(file: file, json: RawJSON(text))
    }
  }()

  @Test func `are there`() { #expect(Self.vectors.count >= 20) }

  @Test(arguments: vectors) func `turn the old records into the new ones`(vector: Vector) throws {
    let old = try records(vector.json["old"])
    let changes = try changes(of: vector)
    let new = try old.applying(changes, head: .init())
    let wanted = try records(vector.json["new"])
    #expect(new.sections.map(\.value) == wanted.sections.map(\.value))
    #expect(new.sections.map(\.indexTitle) == wanted.sections.map(\.indexTitle))
    #expect(new.sections.map { Array($0.records) } == wanted.sections.map { Array($0.records) })
    // The order of the events means nothing.
    let shuffled = try old.applying(changes.reversed(), head: .init())
    #expect(
      shuffled.sections.map { Array($0.records) } == wanted.sections.map { Array($0.records) })
  }

  /// Some fit; none may crash.
  @Test func `are refused or applied where they do not belong`() throws {
    var refusals = 0
    func apply(_ changes: [WireChange<AnyRecord>], to records: RemoteRecords<AnyRecord>) {
      do throws(ChangeSetError) {
        _ = try records.applying(changes, head: .init())
      } catch {
        refusals += 1
      }
    }
    for vector in Self.vectors {
      let changes = try changes(of: vector)
      apply(changes, to: try records(vector.json["new"]))
      apply(changes, to: RemoteRecords())
    }
    // Hardly any fits empty records.
    #expect(refusals > Self.vectors.count)
  }

  private func changes(of vector: Vector) throws -> [WireChange<AnyRecord>] {
    try #require(vector.json["events"]).elements().map { event in
      try WireChange<AnyRecord>(
        event["event"]?.plain ?? "", try #require(event["data"]), .remoteRecords)
    }
  }

  private func records(_ json: RawJSON?) throws -> RemoteRecords<AnyRecord> {
    let sections = try #require(json?["sections"]).elements().map { section in
      let records = try #require(section["records"]).elements().map { record in
        RemoteRow(
          key: nil,
          record: try JSONDecoder.remoteRecords.decode(AnyRecord.self, from: record.data))
      }
      return RemoteRecordsSection(
        value: section["name"].map(RemoteValue.init) ?? .null,
        indexTitle: section["indexTitle"]?.string ?? "", rows: records)
    }
    return RemoteRecords(sections: sections)
  }
}
