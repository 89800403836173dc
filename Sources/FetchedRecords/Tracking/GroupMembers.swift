import Algorithms
import OrderedResults

/// The rowids of the rows of each group, where no index of the database finds them.
///
/// Memory: 8 to 16 bytes a row and some 100 a group, and about as much that the allocator keeps of lists that
/// grew, which is not counted.
struct GroupMembers {
  /// The number of these rowids among those of a plan's contributions.
  private let position: Int
  /// In their order.
  private var rows: [Int64: [Int64]] = [:]
  private var count = 0

  /// To read so many rows by their rowids is as dear as to read all of them one after the other.
  private static let worthwhile = 16
  private static let few = 4096

  init(position: Int) { self.position = position }

  /// About the bytes that it takes.
  var size: Int { 16 * count + 100 * rows.count }

  /// Whether a group has so many rows on average that to read all costs no more.
  var areTooFewGroups: Bool { count > Self.few && rows.count < 2 * Self.worthwhile }

  /// Whether so many of the rows are to be read that it costs no less to read all.
  func areMany(_ groups: [Int64]) -> Bool {
    groups.reduce(0) { $0 + (rows[$1]?.count ?? 0) } > max(Self.few / 4, count / Self.worthwhile)
  }

  /// O(log n + m), n rows of the group, m of which stand behind.
  mutating func insert(_ rowID: Int64, at position: Int, into group: Int64) {
    guard position == self.position else { return }
    let place = rows[group]?.partitioningIndex { $0 >= rowID } ?? 0
    if rows[group].map({ place < $0.count && $0[place] == rowID }) == true { return }
    rows[group, default: []].insert(rowID, at: place)
    count += 1
  }

  /// O(log n + m), like ``insert(_:at:into:)``.
  mutating func remove(_ rowID: Int64, at position: Int, from group: Int64) {
    guard position == self.position,
      let place = rows[group]?.partitioningIndex(where: { $0 >= rowID }),
      rows[group]?.indices.contains(place) == true, rows[group]?[place] == rowID
    else { return }
    rows[group]?.remove(at: place)
    count -= 1
    if rows[group]?.isEmpty == true { rows[group] = nil }
  }

  /// The rowids of a group's rows, as JSON; nil: it has none.
  func json(of group: Int64) -> Value? {
    rows[group].map { rows in
      .text(Array("[\(rows.map(String.init).joined(separator: ","))]".utf8))
    }
  }
}
