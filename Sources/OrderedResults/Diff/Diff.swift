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
  let deleted: OffsetRanges
  /// New records that were not there before, ascending.
  let inserted: OffsetRanges

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
    deleted = OffsetRanges(Gaps(between: staying.pieces, .old, count: old.count))
    inserted = OffsetRanges(Gaps(between: staying.pieces, .new, count: new.count))
  }
}
