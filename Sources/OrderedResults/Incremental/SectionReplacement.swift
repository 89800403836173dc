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
  /// The records of each old section that stay or come.
  private var counts: [Int]
  private var touched: Set<Int> = []
  /// In order.
  private var newcomers: [Newcomer] = []
  /// Set by ``finish(_:_:)``.
  private(set) var changes: [SectionChange] = []

  init(_ old: SectionList) {
    self.old = old
    counts = old.map(\.numberOfRecords)
  }

  mutating func remove(from section: Int) {
    counts[section] -= 1
    touched.insert(section)
  }

  mutating func add(to section: Int) {
    counts[section] += 1
    touched.insert(section)
  }

  /// Called in the order of the records, so that those of one new section come together.
  mutating func add(named name: Value, before place: Int) {
    if let last = newcomers.last, last.place == place, last.name == name {
      newcomers[newcomers.count - 1].count += 1
    } else {
      newcomers.append(Newcomer(name: name, place: place, count: 1))
    }
  }

  /// Whether no section that stays, and no other newcomer, has the name of a newcomer.
  private var newcomersAreNew: Bool {
    var names = Set(newcomers.map(\.name))
    guard names.count == newcomers.count else { return false }
    for index in old.indices where counts[index] > 0 {
      if !names.isEmpty, names.remove(old[index].name) != nil { return false }
    }
    return true
  }

  /// The new sections. O(s).
  ///
  /// - Returns: nil where the index title of a section that stays would change: then its records
  ///   move, which is more than these few changes tell. Nil also where two sections would have one
  ///   name, because the order does not keep the records of a name together.
  mutating func finish(_ records: RecordList, _ layout: RecordLayout) -> SectionList? {
    guard newcomersAreNew else { return nil }
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
      if layout.sectionIndexTitle != nil, layout.section != nil, touched.contains(index) {
        let title = records[offset].borrow { layout.indexTitle(of: $0, name: section.name) }
        if title != section.indexTitle { return nil }
      }
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
}
