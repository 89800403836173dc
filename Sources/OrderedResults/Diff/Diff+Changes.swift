extension Diff {
  /// The change set, in the order of `protocol.md` §4.
  ///
  /// O(s + p + k) for s sections, p pieces and k changes.
  var changes: ChangeSet {
    ChangeSet(sectionChanges: sectionChanges, recordChanges: recordChanges)
  }

  private var sectionChanges: [SectionChange] {
    var changes: [SectionChange] = []
    for index in old.sections.indices.reversed() where !staying.keepsOldSection[index] {
      let section = old.sections[index]
      changes.append(
        .deletion(section: index, name: section.name, indexTitle: section.indexTitle))
    }
    for index in new.sections.indices where !staying.keepsNewSection[index] {
      let section = new.sections[index]
      changes.append(
        .insertion(section: index, name: section.name, indexTitle: section.indexTitle))
    }
    return changes
  }

  private var recordChanges: RecordChanges {
    var count = 0
    for range in deleted { count += range.count }
    for range in inserted { count += range.count }
    for piece in staying.pieces where piece.isChanged || !staying.keeps(piece) {
      count += piece.count
    }
    var offsets = ChangeOffsets.List()
    offsets.reserveCapacity(count)
    addDepartures(to: &offsets)
    for range in inserted {
      for offset in range { offsets.addInsertion(offset) }
    }
    for piece in staying.pieces where piece.isChanged && staying.keeps(piece) {
      for item in 0..<piece.count { offsets.addUpdate(piece.old + item, piece.new + item) }
    }
    return RecordChanges(ChangeOffsets(offsets, old: old, new: new))
  }

  /// Adds deletions and moves, by descending old index path.
  private func addDepartures(to offsets: inout ChangeOffsets.List) {
    let moves = movesByOldOffset()
    var remaining = moves.count
    func addMoves(after offset: Int) {
      while remaining > 0, moves[remaining - 1].old > offset {
        remaining -= 1
        let move = moves[remaining]
        for item in (0..<move.count).reversed() {
          offsets.addMove(move.old + item, move.new + item)
        }
      }
    }
    for range in deleted.reversed() {
      addMoves(after: range.lowerBound)
      for offset in range.reversed() { offsets.addDeletion(offset) }
    }
    addMoves(after: -1)
  }

  private typealias Moves = (old: Int, new: Int, count: Int)

  /// What does not stay, ascending in the old result.
  ///
  /// Few moves are sorted. Many are dealt out to an array with a place for each old record: O(n).
  private func movesByOldOffset() -> [Moves] {
    let count = staying.pieces.count { !staying.keeps($0) }
    var moves: [Moves] = []
    moves.reserveCapacity(count)
    if count < old.count / 32 {
      for piece in staying.pieces where !staying.keeps(piece) {
        moves.append((piece.old, piece.new, piece.count))
      }
      moves.sort { $0.old < $1.old }
      return moves
    }
    var newOffsets = [UInt32](repeating: .max, count: old.count)
    for piece in staying.pieces where !staying.keeps(piece) {
      for item in 0..<piece.count { newOffsets[piece.old + item] = UInt32(piece.new + item) }
    }
    for (offset, new) in newOffsets.enumerated() where new != .max {
      moves.append((offset, Int(new), 1))
    }
    return moves
  }
}
