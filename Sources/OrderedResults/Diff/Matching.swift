import Hashing

/// Which new record is which old one.
///
/// Most pairs are found as the rows come; what is left over on both sides is matched here: by the
/// keys themselves where they are integers close together, else by a hash of them.
struct Matching {
  /// Ascending in the new result.
  private(set) var pairs: [PairRun] = []
  /// Old records without a partner, ascending.
  private(set) var deleted = OffsetRanges()
  /// New records without a partner, ascending.
  private(set) var inserted = OffsetRanges()
  /// Whether two new records share a key; nil: not looked at.
  private(set) var hasDuplicateKeys: Bool?

  let old: Results
  let new: Results
  let identity: Identity
  let hasher = KeyedHash()

  /// Completes `seen`, pairs ascending in both results, of which those before `prefix` pair each
  /// record with the one at the same offset.
  ///
  /// O(m + n / 128) for m leftovers among n records, where keys are known to be unique; else O(n).
  init(old: Results, new: Results, seen: [PairRun], prefix: Int) {
    self.old = old
    self.new = new
    identity = Identity(old.layout)
    if !identity.isKey {
      match(joiningEnds(seen, prefix: prefix))
    } else if isInPlace(seen, prefix: prefix) {
      // The n-th of a key is the n-th in both, whether keys repeat or not.
      match(seen)
      hasDuplicateKeys = inserted.isEmpty ? old.hasDuplicateKeys : nil
    } else if !matchUnique(seen) {
      match(seen.filter { $0.newRange.upperBound <= prefix })
      hasDuplicateKeys = hasDuplicateKeys(new.records)
    }
  }

  /// Whether each record with a partner has it at the same offset, and nothing is left over on one
  /// of the sides.
  private func isInPlace(_ seen: [PairRun], prefix: Int) -> Bool {
    let end = seen.last?.newRange.upperBound ?? 0
    return end <= prefix && (end == old.count || end == new.count)
  }

  /// Matches if no key appears twice in one result; false: one does, and what was matched is void.
  private mutating func matchUnique(_ seen: [PairRun]) -> Bool {
    if old.hasDuplicateKeys ?? hasDuplicateKeys(old.records) { return false }
    match(seen)
    hasDuplicateKeys = !old.layout.keyIsUnique && insertedRepeatKeys()
    return hasDuplicateKeys == false
  }

  /// Matches what `seen` leaves over, the n-th of a key with the n-th of that key.
  private mutating func match(_ seen: [PairRun]) {
    let oldGaps = Gaps(between: seen, .old, count: old.count)
    let newGaps = Gaps(between: seen, .new, count: new.count)
    guard !oldGaps.isEmpty && !newGaps.isEmpty else {
      (pairs, deleted, inserted) = (seen, OffsetRanges(oldGaps), OffsetRanges(newGaps))
      return
    }
    let records = FlatRecords(old.records)
    let leftovers = records.numbers(in: oldGaps)
    if var matcher = DenseMatcher(leftovers, of: records, old.layout, identity) {
      add(seen, newGaps, &matcher)
    } else {
      var matcher = LeftoverMatcher(leftovers, of: records, old.layout, identity, hasher)
      add(seen, newGaps, &matcher)
    }
  }

  /// Puts what was seen and what a matcher finds together.
  private mutating func add<Matcher: LeftoverMatching>(
    _ seen: [PairRun], _ newGaps: Gaps, _ matcher: inout Matcher
  ) {
    (deleted, inserted) = (OffsetRanges(), OffsetRanges())
    var batches = LeftoverBatches(newGaps, of: FlatRecords(new.records))
    var batch = LeftoverBatches.emptyBatch
    pairs = [PairRun](capacity: seen.count + newGaps.totalCount) { pairs in
      var nextSeen = 0
      while batches.next(&batch) {
        matcher.match(&batch)
        for lookUp in batch {
          while nextSeen < seen.count, seen[nextSeen].new < lookUp.offset {
            pairs.add(seen[nextSeen])
            nextSeen += 1
          }
          if lookUp.oldOffset == LookUp.none {
            inserted.add(lookUp.offset)
          } else {
            pairs.add(
              PairRun(old: lookUp.oldOffset, new: lookUp.offset, isChanged: lookUp.isChanged))
          }
        }
      }
      for run in seen[nextSeen...] { pairs.add(run) }
    }
    matcher.forEachUnmatched { deleted.add($0) }
  }
}
