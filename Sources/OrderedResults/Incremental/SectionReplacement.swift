/// What becomes of the sections when records go and come.
struct SectionReplacement {
  /// A section that the old results do not have.
  private struct Newcomer {
    let name: Value
    /// It comes before this old section.
    let place: Int
    var count: Int
  }

  private let old: SectionList
  /// By how many records the old sections grow; those that change, even by none.
  private var growth: [Int: Int] = [:]
  /// In order.
  private var newcomers: [Newcomer] = []
  /// Set by ``finish(_:_:)``.
  private(set) var changes: [SectionChange] = []

  init(_ old: SectionList) { self.old = old }

  mutating func remove(from section: Int) { growth[section, default: 0] -= 1 }

  mutating func add(to section: Int) { growth[section, default: 0] += 1 }

  /// Called in the order of the records, so that those of one new section come together.
  mutating func add(named name: Value, before place: Int) {
    if let last = newcomers.last, last.place == place, last.name == name {
      newcomers[newcomers.count - 1].count += 1
    } else {
      newcomers.append(Newcomer(name: name, place: place, count: 1))
    }
  }

  /// The records of each old section that stay or come.
  private var counts: [Int] {
    var counts = old.map(\.numberOfRecords)
    for (section, growth) in growth { counts[section] += growth }
    return counts
  }

  /// Whether no section that stays, and no other newcomer, has the name of a newcomer.
  private func newcomersAreNew(besides counts: [Int]) -> Bool {
    if newcomers.isEmpty { return true }
    let names = Set(newcomers.map(\.name))
    return names.count == newcomers.count
      && old.indices.allSatisfy { counts[$0] == 0 || !names.contains(old[$0].name) }
  }

  /// The new sections. O(s); O(k), k that changed, where none comes, goes, grows or shrinks.
  ///
  /// - Returns: nil where the index title of a section that stays would change: then its records
  ///   move, which is more than these few changes tell. Nil also where two sections would have one
  ///   name, because the order does not keep the records of a name together.
  mutating func finish(_ records: RecordList, _ layout: RecordLayout) -> SectionList? {
    if newcomers.isEmpty, growth.values.allSatisfy({ $0 == 0 }) {
      let keepsTitles = growth.keys.allSatisfy {
        keepsTitle($0, records, old[$0].offset, layout)
      }
      return keepsTitles ? old : nil
    }
    let counts = counts
    guard newcomersAreNew(besides: counts) else { return nil }
    var sections: [Section] = []
    var insertions: [SectionChange] = []
    var offset = 0
    var next = 0
    func addNewcomers(before place: Int) {
      while next < newcomers.count, newcomers[next].place == place {
        let newcomer = newcomers[next]
        let title = records[offset].borrow { layout.indexTitle(of: $0, name: newcomer.name) }
        insertions.append(
          .insertion(section: sections.count, name: newcomer.name, indexTitle: title))
        sections.append(
          Section(
            name: newcomer.name, indexTitle: title, numberOfRecords: newcomer.count, offset: offset)
        )
        offset += newcomer.count
        next += 1
      }
    }
    for index in old.indices {
      addNewcomers(before: index)
      let section = old[index]
      if counts[index] == 0, layout.section != nil {
        changes.append(
          .deletion(section: index, name: section.name, indexTitle: section.indexTitle))
        continue
      }
      if !keepsTitle(index, records, offset, layout) { return nil }
      sections.append(
        Section(
          name: section.name, indexTitle: section.indexTitle, numberOfRecords: counts[index],
          offset: offset))
      offset += counts[index]
    }
    addNewcomers(before: old.count)
    changes.reverse()
    changes += insertions
    return SectionList(sections)
  }

  /// Whether an old section whose records are now at an offset has the index title that it had.
  private func keepsTitle(
    _ index: Int, _ records: RecordList, _ offset: Int, _ layout: RecordLayout
  ) -> Bool {
    guard layout.sectionIndexTitle != nil, layout.section != nil, growth[index] != nil else {
      return true
    }
    let section = old[index]
    return records[offset].borrow { layout.indexTitle(of: $0, name: section.name) }
      == section.indexTitle
  }
}
