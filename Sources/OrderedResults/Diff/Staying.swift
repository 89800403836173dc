/// Which paired records keep their place, and which sections are kept.
///
/// Both are decided together. In each result the sections' headers stand before their records, in
/// one sequence; a header is paired with the one of the same name and index title, a record with
/// its partner if their sections are paired. What stays is the heaviest increasing subsequence of
/// these pairs: first the most unchanged records, then the most changed ones, then the most
/// headers. That a record stays only where its header does needs no rule of its own: a header can
/// be added to any choice that holds one of its records, for it stands between them and all before
/// them in both sequences.
///
/// Pairs that follow each other in both sequences stay or go together, since nothing can come
/// between them; so the work is O(r log r) for r such runs, and an unchanged result is one run.
struct Staying {
  /// All paired records, ascending in the new result; none is of several sections.
  private(set) var pieces: [PairRun] = []
  /// For each piece whether it keeps its place.
  private(set) var keepsPiece: [Bool] = []
  /// For each old section whether it is kept.
  private(set) var keepsOldSection: [Bool]
  /// For each new section whether it was kept.
  private(set) var keepsNewSection: [Bool]

  /// Decides for `pairs`, ascending in the new result.
  ///
  /// O(s + r log r), s sections and r runs.
  init(old: Results, new: Results, pairs: [PairRun]) {
    keepsOldSection = Array(repeating: false, count: old.sections.count)
    keepsNewSection = Array(repeating: false, count: new.sections.count)
    var cutter = PieceCutter(old, new)
    pieces = cutter.cut(pairs)
    let keepsGroup = cutter.groups.heaviestIncreasing(limit: old.count + old.sections.count)
    let groups = cutter.groupOfPiece
    keepsPiece = [Bool](capacity: groups.count) { keepsPiece in
      for group in groups {
        keepsPiece.append(group != PieceCutter.noGroup && keepsGroup[Int(group)])
      }
    }
    for header in cutter.headers where keepsGroup[Int(header.group)] {
      keepsOldSection[header.old] = true
      keepsNewSection[header.new] = true
    }
  }

  /// The pieces that keep their place.
  var keptPieces: [PairRun] { pieces.indices.filter { keepsPiece[$0] }.map { pieces[$0] } }

  /// The same without the pairs that do not stay.
  var withoutMoves: Staying {
    var copy = self
    copy.pieces = keptPieces
    copy.keepsPiece = copy.pieces.map { _ in true }
    return copy
  }
}
