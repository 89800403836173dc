extension Staying {
  /// Pairs that stay, and those that can be added beside them where records have no key: equal
  /// records right after or right before one that stays, as far as nothing else lies between.
  ///
  /// This is what pairing by order of appearance misses: in A B A → B A the first A of both is a
  /// pair, and so B stays alone; here the last A joins it. O(n), n records.
  func widened(old: Results, new: Results) -> [PairRun] {
    let identity = Identity(old.layout)
    var left = RecordCursor(old.records)
    var right = RecordCursor(new.records)
    func isSame(_ oldOffset: Int, _ newOffset: Int) -> Bool {
      left.seek(oldOffset)
      right.seek(newOffset)
      return identity.isSame(left.bytes, right.bytes)
    }

    var pairs: [PairRun] = []
    var (oldEnd, newEnd) = (0, 0)
    func fill(upTo oldStart: Int, _ newStart: Int) {
      while oldEnd < oldStart, newEnd < newStart, isSame(oldEnd, newEnd) {
        pairs.add(PairRun(old: oldEnd, new: newEnd, count: 1, isChanged: false))
        (oldEnd, newEnd) = (oldEnd + 1, newEnd + 1)
      }
      var count = 0
      while oldEnd < oldStart - count, newEnd < newStart - count,
        isSame(oldStart - count - 1, newStart - count - 1)
      {
        count += 1
      }
      guard count > 0 else { return }
      pairs.add(
        PairRun(old: oldStart - count, new: newStart - count, count: count, isChanged: false))
    }
    for piece in keptPieces {
      fill(upTo: Int(piece.old), Int(piece.new))
      pairs.add(
        PairRun(
          old: Int(piece.old), new: Int(piece.new), count: Int(piece.count), isChanged: false))
      (oldEnd, newEnd) = (piece.oldRange.upperBound, piece.newRange.upperBound)
    }
    fill(upTo: old.count, new.count)
    return pairs
  }
}
