/// Record changes as offsets in the two results between which they lie.
///
/// An object, so that a change set is cheap to pass on: results are several references wide.
final class ChangeOffsets: Sendable {
  /// The offsets in the order of `protocol.md` §4.
  struct List: Sendable {
    fileprivate struct Pair {
      var old: UInt32
      var new: UInt32
    }

    fileprivate var pairs: [Pair] = []
    fileprivate var numberOfDepartures = 0

    fileprivate static let none = UInt32.max

    mutating func reserveCapacity(_ count: Int) { pairs.reserveCapacity(count) }

    mutating func addDeletion(_ old: Int) {
      pairs.append(Pair(old: UInt32(old), new: Self.none))
      numberOfDepartures += 1
    }

    mutating func addMove(_ old: Int, _ new: Int) {
      pairs.append(Pair(old: UInt32(old), new: UInt32(new)))
      numberOfDepartures += 1
    }

    mutating func addInsertion(_ new: Int) {
      pairs.append(Pair(old: Self.none, new: UInt32(new)))
    }

    mutating func addUpdate(_ old: Int, _ new: Int) {
      pairs.append(Pair(old: UInt32(old), new: UInt32(new)))
    }
  }

  private let list: List
  private let old: Results
  private let new: Results

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
    if pair.new == List.none {
      return .deletion(at: sections.old.indexPath(ofOffset: from), record: old.records[from])
    }
    let newPath = sections.new.indexPath(ofOffset: to)
    let record = new.records[to]
    if pair.old == List.none { return .insertion(at: newPath, record: record) }
    let oldPath = sections.old.indexPath(ofOffset: from)
    if position < list.numberOfDepartures {
      return .move(from: oldPath, to: newPath, old: old.records[from], new: record)
    }
    return .update(from: oldPath, to: newPath, old: old.records[from], new: record)
  }
}
