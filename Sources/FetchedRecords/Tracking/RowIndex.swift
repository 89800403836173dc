import OrderedResults

/// The records of a result by their owners.
///
/// The records are those of the result's own blocks, so that the index adds no bytes of theirs:
/// when blocks are made anew, their records are entered again.
struct RowIndex {
  private var first: [Int64: Record]
  /// Of the owners that have several records, all but the first.
  private var others: [Int64: [Record]] = [:]

  init(minimumCapacity: Int) { first = Dictionary(minimumCapacity: minimumCapacity) }

  /// The records of an owner.
  subscript(owner: Int64) -> [Record] {
    guard let record = first[owner] else { return [] }
    return [record] + (others[owner] ?? [])
  }

  mutating func remove(_ record: Record, of owner: Int64) {
    if first[owner] == record {
      first[owner] = others[owner]?.popLast()
    } else if let index = others[owner]?.firstIndex(of: record) {
      others[owner]?.remove(at: index)
    }
    if others[owner]?.isEmpty == true { others[owner] = nil }
  }

  /// Enters a record, or the same record in other memory.
  ///
  /// O(r), r records of the owner.
  mutating func enter(_ record: Record, of owner: Int64) {
    guard let known = first[owner], known != record else {
      first[owner] = record
      return
    }
    if let index = others[owner]?.firstIndex(of: record) {
      others[owner]?[index] = record
    } else {
      others[owner, default: []].append(record)
    }
  }
}
