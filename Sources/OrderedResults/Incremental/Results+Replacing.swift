import Algorithms

extension Results {
  /// The results after some records went and others came, and how they differ.
  ///
  /// A record that changed is among both. The same as a refetch and its diff would give, without a
  /// look at the records that did not change.
  ///
  /// - Parameters:
  ///   - removed: records of these results.
  ///   - added: records of the next ones.
  ///   - order: the total order of these results and of the next ones.
  /// - Returns: the results, the changes, and the blocks that were made for them, for an
  ///   ``OwnerIndex``; nil where these are not the results that `removed` and `order` tell of; then only a
  ///   new fetch helps.
  ///
  /// O(k log n + s + n / 8192) for k records that went or came, among n in s sections. O(n) where one of
  /// them may share its key with others: they are told apart by their order among all.
  package func replacing(
    removed: [Record], added: [Record], by order: RecordOrder
  ) -> (results: Results, changes: ChangeSet, made: [MadeBlock])? {
    var replacement = Replacement(old: self, order: order)
    guard replacement.remove(removed), replacement.add(added) else { return nil }
    return (consume replacement).finish()
  }

  /// Where a record stands, or would stand, in a range that is known to have its place.
  ///
  /// O(log n), n records of the range.
  func position(
    of record: Record, by order: RecordOrder, in range: Range<Int>
  ) -> (offset: Int, isThere: Bool) {
    record.borrow { record in records.position(in: range) { order.compare($0, record) } }
  }
}

/// The work of ``Results/replacing(removed:added:by:)``.
struct Replacement {
  let old: Results
  let order: RecordOrder
  /// Offsets of the records that go, ascending.
  private(set) var removed: [Int] = []
  /// The records that come, in their order.
  private(set) var arrivals: [Arrival] = []
  var sections: SectionReplacement

  /// A record that comes.
  struct Arrival {
    let record: Record
    /// It comes before the old record at this offset.
    let place: Int
    /// Where it stands in the new results.
    var offset = 0
    /// Where the record that it replaces stood.
    var old: Int?
    /// The old section that it comes into; nil for a new one.
    var section: Int?
    /// Whether it keeps its place among the records that stay.
    var stays = false
  }

  init(old: Results, order: RecordOrder) {
    self.old = old
    self.order = order
    sections = SectionReplacement(old.sections)
  }

  mutating func remove(_ records: [Record]) -> Bool {
    for record in records {
      let (offset, isThere) = old.position(of: record, by: order, in: 0..<old.count)
      guard isThere, old[offset] == record else { return false }
      removed.append(offset)
    }
    removed.sort()
    var cursor = SectionCursor(old.sections)
    for offset in removed {
      cursor.seek(offset)
      sections.remove(from: cursor.index)
    }
    return true
  }

  mutating func add(_ records: [Record]) -> Bool {
    let sorted = records.sorted { order.compare($0, $1) < 0 }
    for record in sorted {
      guard let place = place(of: record) else { return false }
      arrivals.append(Arrival(record: record, place: place))
    }
    for index in arrivals.indices {
      arrivals[index].offset = arrivals[index].place - goneBefore(arrivals[index].place) + index
      guard enterSection(index) else { return false }
    }
    if repeatsKeys { return true }
    findReplaced()
    chooseStaying()
    return true
  }

  consuming func finish() -> (results: Results, changes: ChangeSet, made: [MadeBlock])? {
    let (records, made) = newRecords()
    guard let list = sections.finish(records, old.layout) else {
      return nil
    }
    if repeatsKeys {
      let results = Results(
        layout: old.layout, records: records, sections: list, hasDuplicateKeys: nil)
      return (results, results.changes(from: old), made)
    }
    let results = Results(
      layout: old.layout, records: records, sections: list, hasDuplicateKeys: old.hasDuplicateKeys)
    let changes = ChangeSet(
      sectionChanges: sections.changes,
      recordChanges: RecordChanges(ChangeOffsets(offsets(), old: old, new: results)))
    return (results, changes, made)
  }

  // MARK: - Places

  /// Where a record that comes would stand among the old ones; nil where one that stays has its place.
  ///
  /// O(log n), n records; O(log k), k that go, where it takes the place of one of them: those are
  /// looked at first, and leave only what is between two of them.
  private func place(of record: Record) -> Int? {
    let (next, takesItsPlace) = removed.indices.search { order.compare(old[removed[$0]], record) }
    if takesItsPlace { return removed[next] }
    let end = next < removed.count ? removed[next] : old.count
    let start = next > 0 ? removed[next - 1] + 1 : 0
    let (offset, isThere) = old.position(of: record, by: order, in: start..<end)
    return isThere ? nil : offset
  }

  /// How many records that go stood before `offset`. O(log k).
  private func goneBefore(_ offset: Int) -> Int { removed.partitioningIndex { $0 >= offset } }

  /// Finds the section of an arrival beside its place: all records of a section's name, those that
  /// go too, stand together. False if the place is inside another section.
  private mutating func enterSection(_ index: Int) -> Bool {
    guard let column = old.layout.section else {
      arrivals[index].section = 0
      sections.add(to: 0)
      return true
    }
    let place = arrivals[index].place
    let name = arrivals[index].record.value(column).canonical
    let before = place > 0 ? old.sections.index(ofOffset: place - 1) : nil
    let behind = place < old.count ? old.sections.index(ofOffset: place) : nil
    if let known = [before, behind].compactMap(\.self).first(where: {
      old.sections[$0].name == name
    }) {
      arrivals[index].section = known
      sections.add(to: known)
      return true
    }
    if let before, before == behind { return false }
    sections.add(named: name, before: behind ?? old.sections.count)
    return true
  }

  // MARK: - Who is who

  /// Pairs arrivals with the records that they replace: those of the same key. O(k).
  private mutating func findReplaced() {
    // Mostly it is one, and then no key has to be hashed, which takes 0.2 µs.
    if let only = removed.first, removed.count == 1 {
      let record = old[only]
      for index in arrivals.indices where hasSameKey(arrivals[index].record, record) {
        arrivals[index].old = only
      }
      return
    }
    var offsets: [[Value]: Int] = [:]
    for offset in removed { offsets[key(of: old[offset])] = offset }
    for index in arrivals.indices {
      arrivals[index].old = offsets[key(of: arrivals[index].record)]
    }
  }

  /// Whether a record that goes or comes may share its key with others.
  ///
  /// A unique key of SQLite that is there more than once has NULL, or text that UTF-16 may hold in
  /// several ways: characters of two code units, of which unpaired ones make others.
  private var repeatsKeys: Bool {
    guard !old.layout.keyIsUnique else { return false }
    return removed.contains { mayRepeat(key(of: old[$0])) }
      || arrivals.contains { mayRepeat(key(of: $0.record)) }
  }

  private func mayRepeat(_ key: [Value]) -> Bool {
    key.contains { value in
      switch value {
      case .null: true
      case .text(let bytes): bytes.contains { $0 >= 0xF0 }
      case .integer, .real, .blob: false
      }
    }
  }

  /// Nearly always the values are stored alike.
  private func hasSameKey(_ record: Record, _ other: Record) -> Bool {
    let key = old.layout.key ?? []
    let isStoredAlike = record.borrow { record in
      other.borrow { other in
        key.allSatisfy { record.column($0).isEqual(to: other.column($0)) }
      }
    }
    return isStoredAlike || self.key(of: record) == self.key(of: other)
  }

  private func key(of record: Record) -> [Value] {
    (old.layout.key ?? []).map { record.value($0).canonical }
  }

  /// Chooses which of the replaced records keep their place.
  ///
  /// All records that are neither removed nor added stay. One that changed can stay if it is between
  /// the same two of them as before; among those between the same two, the heaviest increasing
  /// subsequence does.
  private mutating func chooseStaying() {
    if arrivals.count == 1 {
      arrivals[0].stays = canStay(0)
      return
    }
    let between = arrivals.indices.filter(canStay)
    for (_, group) in between.chunked(on: gap) { keepHeaviest(of: Array(group)) }
  }

  /// Whether an arrival is between the same records that stay as what it replaces.
  private func canStay(_ index: Int) -> Bool {
    guard let old = arrivals[index].old else { return false }
    return gap(index) == old - goneBefore(old) && isSameSection(arrivals[index], old)
  }

  /// How many records that stay are before an arrival.
  private func gap(_ index: Int) -> Int {
    arrivals[index].place - goneBefore(arrivals[index].place)
  }

  private func isSameSection(_ arrival: Arrival, _ old: Int) -> Bool {
    arrival.section == self.old.sections.index(ofOffset: old)
  }

  private func isUnchanged(_ arrival: Arrival) -> Bool {
    guard let old = arrival.old else { return false }
    return self.old.layout.changedColumns(from: self.old[old], to: arrival.record).isEmpty
  }

  /// O(g log g) for the g arrivals of one gap.
  private mutating func keepHeaviest(of group: [Int]) {
    if group.count <= 1 {
      for index in group { arrivals[index].stays = true }
      return
    }
    let ranked = group.indices.sorted {
      arrivals[group[$0]].old ?? 0 < arrivals[group[$1]].old ?? 0
    }
    var ranks = [Int](repeating: 0, count: group.count)
    for (rank, position) in ranked.enumerated() { ranks[position] = rank }
    let runs = RunGroups(capacity: group.count) { runs in
      for (index, rank) in zip(group, ranks) {
        let kind: RunKind = isUnchanged(arrivals[index]) ? .unchanged : .changed
        runs.append(CountedRun(old: rank, count: 1, kind))
      }
    }
    for (index, stays) in zip(group, runs.heaviestIncreasing(limit: group.count)) {
      arrivals[index].stays = stays
    }
  }

  // MARK: - Results

  private func newRecords() -> (list: RecordList, made: [MadeBlock]) {
    var builder = RecordListBuilder()
    var next = 0
    var gone = removed[...]
    func copy(to end: Int, _ builder: inout RecordListBuilder) {
      while let hole = gone.first, hole < end {
        builder.append(next..<hole, of: old.records)
        next = hole + 1
        gone.removeFirst()
      }
      if next < end { builder.append(next..<end, of: old.records) }
      next = max(next, end)
    }
    for arrival in arrivals {
      copy(to: arrival.place, &builder)
      arrival.record.borrow { builder.append($0) }
    }
    copy(to: old.count, &builder)
    return builder.finishTellingMade()
  }

  /// The changes in the order of `protocol.md` §4.
  private func offsets() -> ChangeOffsets.List {
    var replacedBy: [Int: Arrival] = [:]
    // Of a few, none is looked for by its hash.
    let areFew = arrivals.count <= 4
    if !areFew {
      for arrival in arrivals { if let old = arrival.old { replacedBy[old] = arrival } }
    }
    return ChangeOffsets.List(capacity: removed.count + arrivals.count) { offsets in
      for offset in removed.reversed() {
        let arrival = areFew ? arrivals.last { $0.old == offset } : replacedBy[offset]
        if let arrival {
          if !arrival.stays { offsets.append(.change(offset, arrival.offset)) }
        } else {
          offsets.append(.deletion(offset))
        }
      }
    } arrivals: { offsets in
      for arrival in arrivals where arrival.old == nil {
        offsets.append(.insertion(arrival.offset))
      }
      for arrival in arrivals where arrival.stays && !isUnchanged(arrival) {
        if let old = arrival.old { offsets.append(.change(old, arrival.offset)) }
      }
    }
  }
}
