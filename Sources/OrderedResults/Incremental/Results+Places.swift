extension Results {
  /// The records that go and come where some columns tell the places of records: also those whose place is
  /// another one because of that.
  ///
  /// From each record that goes or comes on, places are counted until they are what they were.
  ///
  /// - Parameters:
  ///   - removed: records of these results.
  ///   - added: records of the next ones, with whatever in these columns.
  ///   - places: the columns.
  ///   - order: the total order of both results, which looks at none of the columns.
  ///   - most: no more records may go.
  /// - Returns: nil where more would go, or these are not the results that `removed` tells of.
  ///
  /// O(k log n + p) for k records that go or come, among n, and p whose places are counted.
  package func recounting(
    removed: [Record], added: [Record], _ places: [PlaceColumn], by order: RecordOrder,
    atMost most: Int
  ) -> (removed: [Record], added: [Record])? {
    var recount = Recount(self, places, order, most)
    guard recount.enter(removed), recount.run(added) else { return nil }
    return (recount.removed, recount.added)
  }
}

/// The work of ``Results/recounting(removed:added:_:by:atMost:)``.
private struct Recount: ~Copyable {
  private(set) var removed: [Record] = []
  private(set) var added: [Record] = []
  private let old: Results
  private let columns: [PlaceColumn]
  private let order: RecordOrder
  private let most: Int
  /// The offsets of records that go, those behind the present one, last first.
  private var gone: [Int] = []
  /// How many more records there are than before, up to the present one.
  private var shift = 0
  /// The record before the present one, and its places.
  private var last: (record: Record, places: [Int64])?
  private var encoder = RecordEncoder()

  init(_ old: Results, _ columns: [PlaceColumn], _ order: RecordOrder, _ most: Int) {
    (self.old, self.columns, self.order, self.most) = (old, columns, order, most)
  }

  mutating func enter(_ records: [Record]) -> Bool {
    for record in records {
      let (offset, isThere) = old.position(of: record, by: order, in: 0..<old.count)
      guard isThere else { return false }
      gone.append(offset)
    }
    gone.sort(by: >)
    return true
  }

  mutating func run(_ records: [Record]) -> Bool {
    // Those to come, the last first.
    var coming = records.sorted { order.compare($0, $1) > 0 }
      .map { (record: $0, offset: old.position(of: $0, by: order, in: 0..<old.count).offset) }
    while let start = [gone.last, coming.last?.offset].compactMap(\.self).min() {
      // Whatever is before this has the place that it had.
      guard begin(behind: start - 1) else { return false }
      var next = start
      var isSettled = false
      while !isSettled {
        while let arrival = coming.last, arrival.offset <= next {
          coming.removeLast()
          enter(arrival.record, at: next)
        }
        guard next < old.count else { return removed.count <= most }
        guard let settled = keep(next) else { return false }
        isSettled = settled
        next += 1
      }
    }
    return removed.count <= most
  }

  private mutating func begin(behind offset: Int) -> Bool {
    last = nil
    if offset < 0 { return true }
    let record = old[offset]
    guard let places = places(in: record) else { return false }
    last = (record, places)
    return true
  }

  /// A record that comes, before the old one at an offset.
  private mutating func enter(_ record: Record, at offset: Int) {
    let places = counted(record, offset: offset + shift)
    let placed = self.record(record, with: places)
    added.append(placed)
    last = (placed, places)
    shift += 1
  }

  /// Counts the place of an old record; returns whether those behind it have the places that they had, or
  /// nil where they cannot be known.
  private mutating func keep(_ offset: Int) -> Bool? {
    let record = old[offset]
    if gone.last == offset {
      gone.removeLast()
      shift -= 1
      if added.last == record { added.removeLast() } else { removed.append(record) }
      return removed.count <= most ? false : nil
    }
    let places = counted(record, offset: offset + shift)
    guard let before = self.places(in: record) else { return nil }
    if places == before {
      last = (record, places)
      return shift == 0 || columns.allSatisfy { $0.kind == .denseRank }
    }
    let placed = self.record(record, with: places)
    removed.append(record)
    added.append(placed)
    last = (placed, places)
    return removed.count <= most ? false : nil
  }

  // MARK: - Places

  private func counted(_ record: Record, offset: Int) -> [Int64] {
    columns.indices.map { index in
      let column = columns[index]
      let number = Int64(offset + 1)
      guard let last, column.kind != .number else { return number }
      let isEqual = order.areEqual(last.record, record, terms: column.terms)
      switch column.kind {
      case .number: return number
      case .rank: return isEqual ? last.places[index] : number
      case .denseRank: return isEqual ? last.places[index] : last.places[index] + 1
      }
    }
  }

  /// nil: one is no number.
  private func places(in record: Record) -> [Int64]? {
    var places: [Int64] = []
    for column in columns {
      guard case .integer(let place) = record.value(column.column) else { return nil }
      places.append(place)
    }
    return places
  }

  private mutating func record(_ record: Record, with places: [Int64]) -> Record {
    encoder.begin()
    record.withColumns { reader in
      var position = 0
      while let view = reader.next() {
        if let index = columns.firstIndex(where: { $0.column == position }) {
          encoder.append(places[index])
        } else {
          encoder.append(view)
        }
        position += 1
      }
    }
    return encoder.makeRecord()
  }
}

extension RecordEncoder {
  fileprivate mutating func append(_ view: ColumnView) {
    switch view {
    case .null: appendNull()
    case .integer(let integer): append(integer)
    case .real(let real): append(real)
    case .text(let bytes): append(text: bytes)
    case .blob(let bytes): append(blob: bytes)
    }
  }
}
