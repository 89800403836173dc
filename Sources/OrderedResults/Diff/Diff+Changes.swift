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
    var (movedPieces, moveCount, updateCount) = (0, 0, 0)
    for (index, piece) in staying.pieces.enumerated() {
      if !staying.keepsPiece[index] {
        movedPieces += 1
        moveCount += Int(piece.count)
      } else if piece.isChanged {
        updateCount += Int(piece.count)
      }
    }
    var offsets = ChangeOffsets.List()
    offsets.reserveCapacity(
      deleted.totalCount + inserted.totalCount + moveCount + updateCount)
    if movedPieces < old.count / 32 {
      addDeparturesWithFewMoves(to: &offsets)
    } else {
      addDeparturesWithManyMoves(to: &offsets)
    }
    for range in inserted {
      for offset in range { offsets.addInsertion(offset) }
    }
    if updateCount > 0 { addUpdates(to: &offsets) }
    return RecordChanges(ChangeOffsets(offsets, old: old, new: new))
  }

  private func addUpdates(to offsets: inout ChangeOffsets.List) {
    for (index, piece) in staying.pieces.enumerated()
    where piece.isChanged && staying.keepsPiece[index] {
      for (old, new) in zip(piece.oldRange, piece.newRange) { offsets.addUpdate(old, new) }
    }
  }

  /// Adds deletions and moves, by descending old index path; the moved pieces are sorted.
  ///
  /// O(p log p + k), p moved pieces and k changes.
  private func addDeparturesWithFewMoves(to offsets: inout ChangeOffsets.List) {
    var moves: [PairRun] = []
    for (index, piece) in staying.pieces.enumerated() where !staying.keepsPiece[index] {
      moves.append(piece)
    }
    moves.sort { $0.old < $1.old }
    func addMoves(after offset: Int) {
      while let move = moves.last, move.old > offset {
        for (old, new) in zip(move.oldRange.reversed(), move.newRange.reversed()) {
          offsets.addMove(old, new)
        }
        moves.removeLast()
      }
    }
    for range in deleted.reversed() {
      addMoves(after: range.lowerBound)
      for offset in range.reversed() { offsets.addDeletion(offset) }
    }
    addMoves(after: -1)
  }

  /// The same with an array that has a place for each old record: O(n), n old records.
  private func addDeparturesWithManyMoves(to offsets: inout ChangeOffsets.List) {
    var newOffsets = [UInt32](repeating: .max, count: old.count)
    for (index, piece) in staying.pieces.enumerated() where !staying.keepsPiece[index] {
      for (old, new) in zip(piece.oldRange, piece.newRange) { newOffsets[old] = UInt32(new) }
    }
    var end = old.count
    func addMoves(downTo start: Int) {
      for offset in (start..<end).reversed() where newOffsets[offset] != .max {
        offsets.addMove(offset, Int(newOffsets[offset]))
      }
    }
    for range in deleted.reversed() {
      addMoves(downTo: range.upperBound)
      for offset in range.reversed() { offsets.addDeletion(offset) }
      end = range.lowerBound
    }
    addMoves(downTo: 0)
  }
}
