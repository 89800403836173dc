extension Matching {
  /// Pairs equal records at the end of both results, instead of what was seen there.
  ///
  /// Records without a key are anything's partner that equals them, so the ones that came first
  /// may have got the wrong one: in A B A → B A the first A.
  func joiningEnds(_ seen: [PairRun], prefix: Int) -> [PairRun] {
    var count = 0
    if let last = seen.last, last.oldRange.upperBound == old.count,
      last.newRange.upperBound == new.count
    {
      count = Int(last.count)
    }
    var left = RecordCursor(old.records)
    var right = RecordCursor(new.records)
    while count < min(old.count, new.count) - prefix {
      left.seek(old.count - count - 1)
      right.seek(new.count - count - 1)
      guard identity.isSame(left.bytes, right.bytes) else { break }
      count += 1
    }
    var pairs: [PairRun] = []
    let (oldEnd, newEnd) = (old.count - count, new.count - count)
    for run in seen {
      let length = min(Int(run.count), oldEnd - Int(run.old), newEnd - Int(run.new))
      guard length > 0 else { break }
      pairs.add(PairRun(old: Int(run.old), new: Int(run.new), count: length, isChanged: false))
    }
    if count > 0 { pairs.add(PairRun(old: oldEnd, new: newEnd, count: count, isChanged: false)) }
    return pairs
  }
}
