/// What turns one result into another.
///
/// Three steps, each in a file of its own: the records of both are paired (``Matching``), the
/// heaviest choice of records and sections that keep their place is found (``Staying``), and all
/// else is put into words (``Diff/changes``).
struct Diff {
  let old: Results
  let new: Results
  let staying: Staying
  /// Old records that are gone, ascending.
  let deleted: [Range<Int>]
  /// New records that were not there before, ascending.
  let inserted: [Range<Int>]

  init(old: Results, new: Results, matching: Matching) {
    self.old = old
    self.new = new
    guard old.layout.key == nil else {
      staying = Staying(old: old, new: new, pairs: matching.pairs)
      deleted = matching.deleted
      inserted = matching.inserted
      return
    }
    // Without a key there is no move: what does not stay goes, and comes again. Equal rows are
    // anything's partner, and the best choice among them would take a matrix; this one is near.
    let closest = Staying(old: old, new: new, pairs: matching.pairs).widened(old: old, new: new)
    staying = Staying(old: old, new: new, pairs: closest).withoutMoves
    deleted = gaps(between: staying.pieces.map(\.oldRange), count: old.count)
    inserted = gaps(between: staying.pieces.map(\.newRange), count: new.count)
  }
}

/// What `ranges`, ascending, leave free of `0..<count`.
func gaps(between ranges: [Range<Int>], count: Int) -> [Range<Int>] {
  var gaps: [Range<Int>] = []
  var end = 0
  for range in ranges {
    if end < range.lowerBound { gaps.append(end..<range.lowerBound) }
    end = range.upperBound
  }
  if end < count { gaps.append(end..<count) }
  return gaps
}

extension [Range<Int>] {
  /// How many offsets all ranges have.
  var totalCount: Int { reduce(0) { $0 + $1.count } }

  /// Appends an offset beyond all others, making the last range longer where it goes on.
  mutating func add(_ offset: Int) {
    if let last, last.upperBound == offset {
      self[count - 1] = last.lowerBound..<offset + 1
    } else {
      append(offset..<offset + 1)
    }
  }
}
