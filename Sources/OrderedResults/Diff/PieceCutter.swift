/// Cuts pairs at the borders of sections and joins what can stay, with the headers, to runs.
struct PieceCutter {
  private(set) var groups = RunGroups()
  /// For each piece the number of its run; `noGroup` if its sections are not paired.
  private(set) var groupOfPiece: [UInt32] = []
  private(set) var headers: [(group: UInt32, old: Int, new: Int)] = []
  private let old: SectionList
  private let partners: [Int?]
  private var oldCursor: SectionCursor
  private var newCursor: SectionCursor
  private var nextHeader = 0

  static let noGroup = UInt32.max

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
    // There is no border between records of one section, and so nothing to copy.
    let isWhole = old.count == 1 && partners.count == 1
    // Each border between sections lies in one pair of runs at most.
    let mostPieces = pairs.count + old.count + partners.count
    var pieces = isWhole ? pairs : []
    if !isWhole { pieces.reserveCapacity(mostPieces) }
    groups = RunGroups(capacity: mostPieces + partners.count) { runs in
      groupOfPiece = [UInt32](capacity: mostPieces) { groups in
        if isWhole {
          addHeaders(through: 0, to: &runs)
          let isPaired = partners[0] == 0
          for pair in pairs {
            groups.append(isPaired ? Self.group(pair, 0, &runs) : Self.noGroup)
          }
        } else {
          for pair in pairs { cut(pair, into: &pieces, &groups, &runs) }
          addHeaders(through: partners.count - 1, to: &runs)
        }
      }
    }
    return pieces
  }

  private mutating func cut(
    _ run: PairRun, into pieces: inout [PairRun], _ groups: inout OutputSpan<UInt32>,
    _ runs: inout OutputSpan<CountedRun>
  ) {
    var (oldOffset, newOffset, remaining) = (Int(run.old), Int(run.new), Int(run.count))
    while remaining > 0 {
      oldCursor.seek(oldOffset)
      newCursor.seek(newOffset)
      addHeaders(through: newCursor.index, to: &runs)
      let count = min(
        remaining, oldCursor.offsets.upperBound - oldOffset,
        newCursor.offsets.upperBound - newOffset)
      let piece = PairRun(
        old: oldOffset, new: newOffset, count: count, isChanged: run.isChanged)
      groups.append(group(piece, oldCursor.index, newCursor.index, &runs))
      pieces.append(piece)
      oldOffset += count
      newOffset += count
      remaining -= count
    }
  }

  /// The number of the run of a piece of these sections.
  @inline(__always)
  private func group(
    _ piece: PairRun, _ oldSection: Int, _ newSection: Int,
    _ runs: inout OutputSpan<CountedRun>
  ) -> UInt32 {
    partners[newSection] == oldSection ? Self.group(piece, oldSection, &runs) : Self.noGroup
  }

  @inline(__always)
  private static func group(
    _ piece: PairRun, _ oldSection: Int, _ runs: inout OutputSpan<CountedRun>
  ) -> UInt32 {
    runs.add(
      old: Int(piece.old) &+ oldSection &+ 1, count: piece.count,
      piece.isChanged ? .changed : .unchanged)
  }

  /// Adds the headers up to that of a new section; called for sections in their order.
  private mutating func addHeaders(
    through section: Int, to runs: inout OutputSpan<CountedRun>
  ) {
    while nextHeader <= section {
      if let partner = partners[nextHeader] {
        let group = runs.add(old: old.offset(partner) + partner, count: 1, .header)
        headers.append((group, partner, nextHeader))
      }
      nextHeader += 1
    }
  }
}
