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
    let count = deleted.totalCount + inserted.totalCount + moveCount + updateCount
    let offsets = ChangeOffsets.List(capacity: count) { offsets in
      if movedPieces < old.count / 32 {
        addDeparturesWithFewMoves(to: &offsets)
      } else {
        addDeparturesWithManyMoves(to: &offsets)
      }
    } arrivals: { offsets in
      for range in inserted {
        for offset in range { offsets.append(.insertion(offset)) }
      }
      if updateCount > 0 { addUpdates(to: &offsets) }
    }
    return RecordChanges(ChangeOffsets(offsets, old: old, new: new))
  }

  private func addUpdates(to offsets: inout OutputSpan<ChangeOffsets.Pair>) {
    for (index, piece) in staying.pieces.enumerated()
    where piece.isChanged && staying.keepsPiece[index] {
      for (old, new) in zip(piece.oldRange, piece.newRange) { offsets.append(.change(old, new)) }
    }
  }

  /// Adds deletions and moves, by descending old index path; the moved pieces are sorted.
  ///
  /// O(p log p + k), p moved pieces and k changes.
  private func addDeparturesWithFewMoves(to offsets: inout OutputSpan<ChangeOffsets.Pair>) {
    var moves: [PairRun] = []
    for (index, piece) in staying.pieces.enumerated() where !staying.keepsPiece[index] {
      moves.append(piece)
    }
    moves.sort { $0.old < $1.old }
    func addMoves(after offset: Int) {
      while let move = moves.last, move.old > offset {
        for (old, new) in zip(move.oldRange.reversed(), move.newRange.reversed()) {
          offsets.append(.change(old, new))
        }
        moves.removeLast()
      }
    }
    for range in deleted.reversed() {
      addMoves(after: range.lowerBound)
      for offset in range.reversed() { offsets.append(.deletion(offset)) }
    }
    addMoves(after: -1)
  }
}
