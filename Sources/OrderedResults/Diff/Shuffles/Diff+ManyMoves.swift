extension Diff {
  /// Adds deletions and moves, by descending old index path, where a good part of the records move: an
  /// array with a place for each old record saves the sorting.
  ///
  /// O(n), n old records. `Benchmarks diff` without it: a shuffle takes 2.4 times as long, a reversal
  /// 1.4 times.
  func addDeparturesWithManyMoves(to offsets: inout OutputSpan<ChangeOffsets.Pair>) {
    let newOffsets = newOffsetsOfMoved
    var end = old.count
    func addMoves(downTo start: Int) {
      while end > start {
        end -= 1
        if newOffsets[end] != .max { offsets.append(.change(end, Int(newOffsets[end]))) }
      }
    }
    for range in deleted.reversed() {
      addMoves(downTo: range.upperBound)
      for offset in range.reversed() { offsets.append(.deletion(offset)) }
      end = range.lowerBound
    }
    addMoves(downTo: 0)
  }

  /// For each old record its new offset if it moves, else `.max`.
  private var newOffsetsOfMoved: ContiguousArray<UInt32> {
    var offsets = ContiguousArray<UInt32>(repeating: .max, count: old.count)
    var span = offsets.mutableSpan
    let (pieces, keepsPiece) = (staying.pieces, staying.keepsPiece)
    for index in pieces.indices where !keepsPiece[index] {
      let piece = pieces[index]
      span[Int(piece.old)] = piece.new
      // Mostly there is but one.
      guard piece.count > 1 else { continue }
      for item in 1..<piece.count { span[Int(piece.old &+ item)] = piece.new &+ item }
    }
    return offsets
  }
}
