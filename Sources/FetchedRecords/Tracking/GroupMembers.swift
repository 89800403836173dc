import OrderedResults

/// The rowids of the rows of each group, where no index of the database finds them; of a table WITHOUT ROWID,
/// the numbers of its rows.
///
/// A row that left a group may stand there still until ``sweep(_:isMember:)`` looks at it: the groups that rows
/// left are read anyway.
///
/// Memory: 8 to 10 bytes a row, or up to 15 with large rowids, and 10 to 12 a group.
struct GroupMembers {
  /// The number of these rowids among those of a plan's contributions.
  let position: Int
  /// By group, the place of the row that was entered last.
  private var last = NumberMap()
  private var rows = NumberArray()
  /// By the place of a row, that of the one before it in its group, or before it among those that are free.
  private var before = NumberArray()
  private var free = Self.none
  private var freeCount = 0

  private static let none = NumberArray.none

  /// To read so many rows by their rowids is as dear as to read all of them one after the other.
  private static let worthwhile = 16
  private static let few = 4096

  init(position: Int) { self.position = position }

  /// The bytes that it takes.
  var size: Int { last.size + rows.size + before.size }

  private var count: Int { rows.count - freeCount }

  /// Whether a group has so many rows on average that to read all costs no more.
  var areTooFewGroups: Bool { count > Self.few && last.count < 2 * Self.worthwhile }

  /// Whether so many of the rows are to be read that it costs no less to read all.
  func areMany(_ groups: [Int64]) -> Bool {
    let most = max(Self.few / 4, count / Self.worthwhile)
    var found = 0
    for group in groups {
      var place = first(of: group)
      while place != Self.none, found <= most {
        found += 1
        place = before[Int(place)]
      }
    }
    return found > most
  }

  /// Gives back what is free. O(n).
  mutating func trim() {
    last.trim()
    rows.trim()
    before.trim()
  }

  /// Enters a row of a group that it was not in. O(1).
  mutating func insert(_ row: Int64, into group: Int64) {
    let place: Int64
    if free != Self.none {
      place = free
      free = before[Int(place)]
      freeCount -= 1
      rows[Int(place)] = row
    } else {
      place = Int64(rows.count)
      rows.append(row)
      before.append(Self.none)
    }
    before[Int(place)] = first(of: group)
    last[group] = place
  }

  /// Lets go of the rows of a group that are none of its any more, and of what is there twice.
  ///
  /// O(m log m), m rows of the group.
  mutating func sweep(_ group: Int64, isMember: (Int64) -> Bool) {
    var place = first(of: group)
    var kept = Self.none
    var known: Set<Int64> = []
    while place != Self.none {
      let next = before[Int(place)]
      if isMember(rows[Int(place)]), known.insert(rows[Int(place)]).inserted {
        before[Int(place)] = kept
        kept = place
      } else {
        before[Int(place)] = free
        free = place
        freeCount += 1
      }
      place = next
    }
    last[group] = kept == Self.none ? nil : kept
  }

  /// A group's rows, in the order in which they are read; nil: it has none.
  func rows(of group: Int64) -> [Int64]? {
    var own: [Int64] = []
    var place = first(of: group)
    while place != Self.none {
      own.append(rows[Int(place)])
      place = before[Int(place)]
    }
    return own.isEmpty ? nil : own.sorted()
  }

  private func first(of group: Int64) -> Int64 { last[group] ?? Self.none }
}

extension Value {
  /// Numbers as SQLite's `json_each` takes them (https://www.sqlite.org/json1.html#jeach).
  static func json(_ numbers: [Int64]) -> Value {
    .text(Array("[\(numbers.map(String.init).joined(separator: ","))]".utf8))
  }
}
