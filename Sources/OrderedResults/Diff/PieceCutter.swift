/// Cuts pairs at the borders of sections and joins what can stay, with the headers, to runs.
struct PieceCutter<Weight: RunWeight> {
  private typealias Piece = Staying.Piece

  private(set) var groups = RunGroups<Weight>()
  private(set) var headers: [(group: UInt32, old: Int, new: Int)] = []
  private let old: SectionList
  private let partners: [Int?]
  private var oldCursor: SectionCursor
  private var newCursor: SectionCursor

  init(_ old: Results, _ new: Results) {
    self.old = old.sections
    partners = new.sections.partners(in: old.sections)
    oldCursor = SectionCursor(old.sections)
    newCursor = SectionCursor(new.sections)
  }

  mutating func cut(_ run: PairRun, into pieces: inout [Staying.Piece]) {
    var (oldOffset, newOffset, remaining) = (Int(run.old), Int(run.new), Int(run.count))
    while remaining > 0 {
      oldCursor.seek(oldOffset)
      newCursor.seek(newOffset)
      let oldSection = oldCursor.index
      let newSection = newCursor.index
      addHeaders(through: newSection)
      let count = min(
        remaining, oldCursor.offsets.upperBound - oldOffset,
        newCursor.offsets.upperBound - newOffset)
      var group = Piece.noGroup
      if partners[newSection] == oldSection {
        group = groups.add(
          old: oldOffset + oldSection + 1, count: count, run.isChanged ? .changed : .unchanged)
      }
      pieces.append(
        Piece(
          old: oldOffset, new: newOffset, count: count, group: group, isChanged: run.isChanged))
      oldOffset += count
      newOffset += count
      remaining -= count
    }
  }

  /// Adds the headers up to that of a new section; called for sections in their order.
  mutating func addHeaders(through section: Int) {
    while nextHeader <= section {
      if let partner = partners[nextHeader] {
        let group = groups.add(old: old.offset(partner) + partner, count: 1, .header)
        headers.append((group, partner, nextHeader))
      }
      nextHeader += 1
    }
  }

  private var nextHeader = 0
}
