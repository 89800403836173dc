/// The owners to which the rows of one table contribute.
///
/// Memory: 10 to 12 bytes a row that has one owner, or up to 24 with large numbers, and some 50 for each owner of
/// a row that has several.
struct RowOwners {
  private var one = NumberMap()
  private var several: [Int64: Set<Int64>] = [:]
  /// How many owners rows of ``several`` have.
  private var ofSeveral = 0

  /// About the bytes of an owner among several, with what the tables leave free.
  private static let bytesPerOwner = 48

  /// How many pairs there are of a row and an owner.
  var count: Int { one.count + ofSeveral }

  /// How many rows have an owner.
  var rows: Int { one.count + several.count }

  /// About the bytes that it takes.
  var size: Int { one.size + Self.bytesPerOwner * ofSeveral }

  /// Gives back what is free. O(n).
  mutating func trim() { one.trim() }

  subscript(row: Int64) -> [Int64] {
    if !several.isEmpty, let all = several[row] { return Array(all) }
    return one[row].map { [$0] } ?? []
  }

  func contains(_ owner: Int64, of row: Int64) -> Bool {
    if !several.isEmpty, let all = several[row] { return all.contains(owner) }
    return one[row] == owner
  }

  /// Enters an owner of a row; returns whether it was none. O(1).
  mutating func insert(_ owner: Int64, of row: Int64) -> Bool {
    if !several.isEmpty, several[row] != nil {
      let isNew = several[row]?.insert(owner).inserted == true
      if isNew { ofSeveral += 1 }
      return isNew
    }
    guard let known = one[row] else {
      one[row] = owner
      return true
    }
    if known == owner { return false }
    one[row] = nil
    several[row] = [known, owner]
    ofSeveral += 2
    return true
  }

  /// Takes all owners of a row. O(o), o of them.
  mutating func take(_ row: Int64) -> [Int64] {
    if !several.isEmpty, let all = several.removeValue(forKey: row) {
      ofSeveral -= all.count
      return Array(all)
    }
    guard let owner = one[row] else { return [] }
    one[row] = nil
    return [owner]
  }
}
