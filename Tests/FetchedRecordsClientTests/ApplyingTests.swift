import Foundation
import Testing

@testable import FetchedRecordsClient

@Suite struct `A change set that does not fit` {
  /// Two sections with two and one record.
  private let records = RemoteRecords<Int>(sections: [
    .init(
      value: .text("a"), indexTitle: "A",
      rows: [.init(key: nil, record: 1), .init(key: nil, record: 2)]),
    .init(value: .text("b"), indexTitle: "B", rows: [.init(key: nil, record: 3)]),
  ])

  private static func path(_ section: Int, _ item: Int) -> IndexPath {
    IndexPath(indexes: [section, item])
  }

  private static let row = RemoteRow(key: nil, record: 9)

  @Test(arguments: [
    [WireChange<Int>.record(.deletion(indexPath: path(0, 2)), nil)],
    [.record(.deletion(indexPath: path(2, 0)), nil)],
    [
      .record(.deletion(indexPath: path(0, 1)), nil),
      .record(.deletion(indexPath: path(0, 1)), nil),
    ],
    [.record(.insertion(indexPath: path(0, 3)), row)],
    [.record(.insertion(indexPath: path(2, 0)), row)],
    [
      .record(.insertion(indexPath: path(0, 1)), row),
      .record(.insertion(indexPath: path(0, 1)), row),
    ],
    [.record(.update(indexPath: path(1, 0), newIndexPath: path(1, 1), changes: [:]), row)],
    [.record(.move(indexPath: path(1, 1), newIndexPath: path(0, 0), changes: [:]), row)],
    [.section(.deletion(index: 1, name: .text("b")))],
    [.section(.deletion(index: 2, name: .text("c")))],
    [.section(.insertion(index: 3, name: .text("d"), indexTitle: "D"))],
    [.section(.insertion(index: .max, name: .text("d"), indexTitle: "D"))],
  ])
  func `is refused and leaves the records`(changes: [WireChange<Int>]) {
    #expect(throws: ChangeSetError.self) { try records.applying(changes, head: .init()) }
    #expect(Array(records) == [1, 2, 3])
  }

  @Test(arguments: [
    #"{"type":"insertion","newIndexPath":[0],"record":1}"#,
    #"{"type":"insertion","newIndexPath":[0,-1],"record":1}"#,
    #"{"type":"insertion","newIndexPath":[0,0]}"#,
    #"{"type":"insertion","newIndexPath":"here","record":1}"#,
    #"{"type":"deletion"}"#, #"{"type":"invention","indexPath":[0,0]}"#, "", "[]", "{", "nonsense",
  ])
  func `is none where it says not what changes`(json: String) {
    #expect(throws: ChangeSetError.self) {
      try WireChange<Int>("change", RawJSON(json), .remoteRecords)
    }
  }
}

@Suite struct `Records` {
  private let records = RemoteRecords<Int>(sections: [
    .init(value: .text("a"), indexTitle: "A", rows: []),
    .init(
      value: .null, indexTitle: "",
      rows: [1, 2, 3].map { .init(key: .init(json: "[\($0)]"), record: $0) }),
    .init(value: .integer(7), indexTitle: "7", rows: [.init(key: .init(json: "[4]"), record: 4)]),
  ])

  @Test func `are found by place, by index path and by key`() {
    #expect(records.count == 4 && Array(records) == [1, 2, 3, 4])
    for (place, path) in [[1, 0], [1, 1], [1, 2], [2, 0]].enumerated() {
      let indexPath = IndexPath(indexes: path)
      #expect(records.indexPath(ofRecord: place) == indexPath)
      #expect(records[indexPath] == records[place])
      #expect(records.key(at: indexPath)?.json == "[\(place + 1)]")
      #expect(records.indexPath(for: .init(json: "[\(place + 1)]")) == indexPath)
    }
    #expect(records.indexPath(ofRecord: 4) == nil && records.indexPath(ofRecord: -1) == nil)
    #expect(records.indexPath(for: .init(json: "[5]")) == nil)
    #expect(records.key(at: IndexPath(indexes: [3, 0])) == nil)
    #expect(records.key(at: IndexPath(indexes: [1])) == nil)
  }

  @Test func `have sections whose names are texts`() {
    #expect(records.sections.map(\.name) == ["a", nil, "7"])
    #expect(records.sectionIndexTitles == ["A", "", "7"])
    #expect(RemoteRecords<Int>().isEmpty)
  }
}
