import FetchedRecords
import JSON
import OrderedResults

/// The `snapshot` event, written piece by piece, so that a large result is never in memory whole
/// as text.
struct SnapshotEvent {
  private let snapshot: ResultsSnapshot
  private let member: MemberName
  private let total: Int?
  private let id: String?
  private var nextOffset: Int?
  private var isFinished = false

  /// Pieces are cut when they pass this many bytes: large enough for few system calls, small
  /// enough for ten thousand streams to open at once.
  private static let pieceSize = 64 * 1024

  /// - Parameters:
  ///   - snapshot: what it shows.
  ///   - member: which query it is of.
  ///   - total: the records of the whole result, where the snapshot is a window's.
  ///   - id: what the stream can be resumed from, if it can at this event.
  init(snapshot: ResultsSnapshot, member: MemberName, total: Int?, id: String?) {
    self.snapshot = snapshot
    self.member = member
    self.total = total
    self.id = id
  }

  /// The next piece of the event, cut when it passes `size` bytes; nil after the last one.
  mutating func next(size: Int = Self.pieceSize) -> [UInt8]? {
    if isFinished { return nil }
    // Most results are small, and thousands of streams may begin at the same time.
    var json = JSONWriter(reserving: min(size, 2 * leastSize) + 1024)
    let offset: Int
    if let nextOffset {
      offset = nextOffset
    } else {
      appendHead(to: &json)
      offset = 0
    }
    appendRecords(from: offset, to: &json, size: size)
    return json.bytes
  }

  /// The whole event at once; nil where it has more bytes than `limit`.
  func whole(atMost limit: Int) -> [UInt8]? {
    var copy = self
    var bytes: [UInt8] = []
    while let piece = copy.next() {
      bytes += piece
      if bytes.count > limit { return nil }
    }
    return bytes
  }

  /// The event has at least so many bytes, whatever the values are.
  ///
  /// O(c), c columns.
  var leastSize: Int {
    // {"key":[],"record":{}}, and of each column "name":0,
    let results = snapshot.results
    return results.count * results.layout.columns.reduce(22) { $0 + $1.utf8.count + 5 }
  }

  private func appendHead(to json: inout JSONWriter) {
    json.beginEvent("snapshot", id: id)
    json.begin("{")
    member.append(to: &json)
    json.member("version", snapshot.version.description)
    json.member("commit", snapshot.commit)
    json.member("numberOfRecords", snapshot.results.count)
    if let total { json.member("totalNumberOfRecords", total) }
    json.sections(of: snapshot.results)
    json.alongside(snapshot.alongside)
    json.name("records")
    json.begin("[")
  }

  private mutating func appendRecords(
    from start: Int, to json: inout JSONWriter, size: Int
  ) {
    let results = snapshot.results
    let form = RecordForm(snapshot, member.arguments)
    var offset = start
    for record in results.records(in: start..<results.count) {
      if offset > 0 { json.continueArray() }
      json.object { $0.keyAndRecord(record, form) }
      offset += 1
      if json.bytes.count >= size { break }
    }
    nextOffset = offset
    guard offset == results.count else { return }
    json.end("]")
    json.end("}")
    json.raw("\n\n")
    isFinished = true
  }
}

extension JSONWriter {
  mutating func sections(of results: Results) {
    array("sections") { json in
      for index in 0..<results.numberOfSections {
        json.section(results.section(at: index), index: index)
      }
    }
  }
}
