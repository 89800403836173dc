/// Record changes as offsets in the two results between which they lie.
///
/// An object, so that a change set is cheap to pass on: results are several references wide.
final class ChangeOffsets: Sendable {
  /// The offsets of one change.
  struct Pair: Sendable {
    let old: UInt32
    let new: UInt32

    static let none = UInt32.max

    @inline(__always)
    static func deletion(_ old: Int) -> Pair { Pair(old: UInt32(old), new: none) }

    @inline(__always)
    static func insertion(_ new: Int) -> Pair { Pair(old: none, new: UInt32(new)) }

    /// A move, or an update.
    @inline(__always)
    static func change(_ old: Int, _ new: Int) -> Pair { Pair(old: UInt32(old), new: UInt32(new)) }
  }

  /// The offsets in the order of `protocol.md` §4.
  struct List: Sendable {
    let pairs: [Pair]
    /// Deletions and moves, which come first.
    let numberOfDepartures: Int

    /// - Parameters:
    ///   - capacity: as many changes as there can be.
    ///   - departures: adds deletions and moves.
    ///   - arrivals: adds insertions and updates.
    init(
      capacity: Int, departures: (inout OutputSpan<Pair>) -> Void,
      arrivals: (inout OutputSpan<Pair>) -> Void
    ) {
      var numberOfDepartures = 0
      pairs = [Pair](capacity: capacity) { pairs in
        departures(&pairs)
        numberOfDepartures = pairs.count
        arrivals(&pairs)
      }
      self.numberOfDepartures = numberOfDepartures
    }
  }

  let list: List
  let old: Results
  let new: Results

  init(_ list: List, old: Results, new: Results) {
    (self.list, self.old, self.new) = (list, old, new)
  }

  var count: Int { list.pairs.count }

  /// Places in the sections of both results, near which the next change is likely to be.
  struct Sections {
    fileprivate var old: SectionCursor
    fileprivate var new: SectionCursor

    static var none: Sections {
      Sections(old: SectionCursor(SectionList()), new: SectionCursor(SectionList()))
    }
  }

  var sections: Sections {
    Sections(old: SectionCursor(old.sections), new: SectionCursor(new.sections))
  }

  /// The change at a position.
  ///
  /// O(log n), n records; O(log s) for a far section, s sections.
  func change(_ position: Int, _ sections: inout Sections) -> RecordChange {
    let pair = list.pairs[position]
    let (from, to) = (Int(pair.old), Int(pair.new))
    if pair.new == Pair.none {
      return .deletion(at: sections.old.indexPath(ofOffset: from), record: old.records[from])
    }
    let newPath = sections.new.indexPath(ofOffset: to)
    let record = new.records[to]
    if pair.old == Pair.none { return .insertion(at: newPath, record: record) }
    let oldPath = sections.old.indexPath(ofOffset: from)
    if position < list.numberOfDepartures {
      return .move(from: oldPath, to: newPath, old: old.records[from], new: record)
    }
    return .update(from: oldPath, to: newPath, old: old.records[from], new: record)
  }
}
