import FetchedRecords
import OrderedResults

/// Events that a stream begins with, made piece by piece as the socket drains: however much it is,
/// no more than a piece of it is in memory as text.
enum EventPieces {
  case bytes([UInt8])
  case snapshot(SnapshotEvent)
  case changes(ChangeSetPieces)

  /// What a client has is called so here: a block with only an id, which no event comes of, and by which
  /// the next change set's `from` is known.
  static func name(_ version: ResultsVersion) -> EventPieces {
    .bytes(Array("id: \(version)\n\n".utf8))
  }

  /// The next piece; nil after the last one.
  mutating func next() -> [UInt8]? {
    switch self {
    case .bytes(let bytes):
      self = .bytes([])
      return bytes.isEmpty ? nil : bytes
    case .snapshot(var event):
      defer { self = .snapshot(event) }
      return event.next()
    case .changes(var changes):
      defer { self = .changes(changes) }
      return changes.next()
    }
  }
}

extension ArraySlice<EventPieces> {
  /// The next piece of all of them; nil after the last one.
  mutating func nextPiece() -> [UInt8]? {
    while let index = indices.first {
      if let piece = self[index].next() { return piece }
      removeFirst()
    }
    return nil
  }
}

/// The events of one change set in pieces.
struct ChangeSetPieces {
  let changes: ChangeSet
  let old: ResultsSnapshot
  let new: ResultsSnapshot
  let total: Int?
  let member: MemberName
  let givesIDs: Bool
  /// Nil when all events have been made.
  private(set) var position: Int? = 0

  static let pieceSize = 64 * 1024

  /// A record change has at least so many bytes, whatever the record.
  static let leastOfAChange = 80

  /// How many bytes the events have; nil where they are more than the snapshot of what they lead to
  /// and a tenth, or not fewer than `limit`.
  ///
  /// Writes them for nobody, up to there.
  func bytes(unlessLongerThan size: SnapshotSize, below limit: Int?) -> Int? {
    let least = changes.count * Self.leastOfAChange
    if least >= limit ?? .max || size.isExceeded(by: least) { return nil }
    var copy = self
    var bytes = 0
    while let piece = copy.next() {
      bytes += piece.count
      if bytes >= limit ?? .max || size.isExceeded(by: bytes) { return nil }
    }
    return bytes
  }

  /// The next events. O(b + c log n), b bytes of c changes of n records.
  mutating func next() -> [UInt8]? {
    guard var position else { return nil }
    var events = ChangeEvents(member: member, givesIDs: givesIDs)
    if position == 0 { events.begin(changes, from: old, to: new) }
    let form = RecordForm(new, member.arguments)
    while position < changes.recordChanges.count, events.bytes.count < Self.pieceSize {
      events.append(changes.recordChanges[position], form)
      position += 1
    }
    // A piece is cut before the first record change at the earliest.
    self.position = max(position, 1)
    if position >= changes.recordChanges.count {
      events.end(from: old, to: new, total: total)
      self.position = nil
    }
    return events.bytes
  }
}
