import TestSupport

@testable import OrderedResults

/// The best that a change set can do, found by the plainest means: pairs by occurrence of the key,
/// and the heaviest common subsequence by a matrix of all pairs.
struct Oracle {
  let old: Results
  let new: Results

  /// Unchanged records that stay, changed ones that stay, sections kept.
  typealias Weight = (unchanged: Int, changed: Int, sections: Int)

  /// For each new record the offset of the old one that it continues.
  func partners() -> [Int?] {
    var waiting: [[Value]: [Int]] = [:]
    for offset in (0..<old.count).reversed() {
      waiting[identity(old[offset]), default: []].append(offset)
    }
    return (0..<new.count).map { waiting[identity(new[$0])]?.popLast() }
  }

  private func identity(_ record: Record) -> [Value] {
    old.layout.key(of: record)?.map(\.canonical) ?? old.layout.visibleValues(record)
  }

  /// The heaviest choice of what can stay.
  func heaviest() -> Weight {
    let partners = partners()
    var oldSequence = sequence(old)
    let newSequence = sequence(new)
    if oldSequence.isEmpty { oldSequence = [] }
    var best = [[Weight]](
      repeating: [Weight](repeating: (0, 0, 0), count: newSequence.count + 1),
      count: oldSequence.count + 1)
    for i in oldSequence.indices {
      for j in newSequence.indices {
        var heaviest = max(best[i][j + 1], best[i + 1][j], by: <)
        if let weight = weight(oldSequence[i], newSequence[j], partners) {
          let sum = (
            best[i][j].unchanged + weight.unchanged, best[i][j].changed + weight.changed,
            best[i][j].sections + weight.sections
          )
          heaviest = max(heaviest, sum, by: <)
        }
        best[i + 1][j + 1] = heaviest
      }
    }
    return best[oldSequence.count][newSequence.count]
  }

  private enum Element {
    case header(Section)
    case record(offset: Int, section: Section)
  }

  private func sequence(_ results: Results) -> [Element] {
    results.sections.flatMap { section in
      [.header(section)]
        + (section.offset..<section.offset + section.numberOfRecords).map {
          .record(offset: $0, section: section)
        }
    }
  }

  private func weight(_ left: Element, _ right: Element, _ partners: [Int?]) -> Weight? {
    func isSame(_ left: Section, _ right: Section) -> Bool {
      left.name == right.name && left.indexTitle == right.indexTitle
    }
    switch (left, right) {
    case (.header(let left), .header(let right)) where isSame(left, right): return (0, 0, 1)
    case (.record(let i, let left), .record(let j, let right))
    where isSame(left, right) && partners[j] == i:
      let shown = old.layout.visibleValues(old[i]) == new.layout.visibleValues(new[j])
      return shown ? (1, 0, 0) : (0, 1, 0)
    default: return nil
    }
  }

  private func max(_ a: Weight, _ b: Weight, by precedes: (Weight, Weight) -> Bool) -> Weight {
    precedes(a, b) ? b : a
  }
}
