/// Cuts pairs at the borders of sections and joins what can stay, with the headers, to runs.
struct PieceCutter<Weight: RunWeight> {
  private(set) var groups = RunGroups<Weight>()
  /// For each piece the number of its run; `noGroup` if its sections are not paired.
  private(set) var groupOfPiece: [UInt32] = []
  private(set) var headers: [(group: UInt32, old: Int, new: Int)] = []
  private let old: SectionList
  private let partners: [Int?]
  private var oldCursor: SectionCursor
  private var newCursor: SectionCursor
  private var nextHeader = 0

  static var noGroup: UInt32 { .max }

  init(_ old: Results, _ new: Results) {
    self.old = old.sections
    partners = new.sections.partners(in: old.sections)
    oldCursor = SectionCursor(old.sections)
    newCursor = SectionCursor(new.sections)
  }

  /// Cuts all pairs, ascending in the new result.
  ///
  /// - Returns: the pieces.
  mutating func cut(_ pairs: [PairRun]) -> [PairRun] {
    groups.reserveCapacity(pairs.count + partners.count)
    groupOfPiece.reserveCapacity(pairs.count)
    if old.count == 1, partners.count == 1 {
      // There is no border between records, and nothing to copy.
      addHeaders(through: 0)
      for run in pairs { groupOfPiece.append(group(run, 0, 0)) }
      return pairs
    }
    var pieces: [PairRun] = []
    pieces.reserveCapacity(pairs.count + partners.count)
    for run in pairs { cut(run, into: &pieces) }
    addHeaders(through: partners.count - 1)
    return pieces
  }

  private mutating func cut(_ run: PairRun, into pieces: inout [PairRun]) {
    var (oldOffset, newOffset, remaining) = (Int(run.old), Int(run.new), Int(run.count))
    while remaining > 0 {
      oldCursor.seek(oldOffset)
      newCursor.seek(newOffset)
      addHeaders(through: newCursor.index)
      let count = min(
        remaining, oldCursor.offsets.upperBound - oldOffset,
        newCursor.offsets.upperBound - newOffset)
      let piece = PairRun(
        old: oldOffset, new: newOffset, count: count, isChanged: run.isChanged)
      groupOfPiece.append(group(piece, oldCursor.index, newCursor.index))
      pieces.append(piece)
      oldOffset += count
      newOffset += count
      remaining -= count
    }
  }

  /// The run of a piece of these sections.
  @inline(__always)
  private mutating func group(_ piece: PairRun, _ oldSection: Int, _ newSection: Int) -> UInt32 {
    guard partners[newSection] == oldSection else { return Self.noGroup }
    return groups.add(
      old: Int(piece.old) + oldSection + 1, count: Int(piece.count),
      piece.isChanged ? .changed : .unchanged)
  }

  /// Adds the headers up to that of a new section; called for sections in their order.
  private mutating func addHeaders(through section: Int) {
    while nextHeader <= section {
      if let partner = partners[nextHeader] {
        let group = groups.add(old: old.offset(partner) + partner, count: 1, .header)
        headers.append((group, partner, nextHeader))
      }
      nextHeader += 1
    }
  }
}
