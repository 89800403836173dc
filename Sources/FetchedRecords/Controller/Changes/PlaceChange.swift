import Algorithms
import OrderedResults

/// A change of one record by its places alone: what a list has to do.
///
/// In contrast to a ``RecordChange``, an update is at one index path that is the same before and
/// after; a record that changed and whose index path shifted is a move.
enum PlaceChange: Equatable {
  case insertion(Place)
  case deletion(Place)
  case move(from: Place, to: Place)
  case update(Place)
}

typealias Place = OrderedResults.IndexPath

/// Makes the changes of places of a change set.
struct PlaceChanges {
  private var deletions: [Place] = []
  private var insertions: [Place] = []
  private var moves: [(from: Place, to: Place)] = []
  /// Records that stay among the others and changed.
  private var updates: [(from: Place, to: Place)] = []
  private let sections: SectionPartners

  /// Which records of two results are the same.
  enum Identity {
    /// Those of one key.
    case key
    /// Those that a closure says, given the old and the new place.
    case closure((Place, Place) -> Bool)
    /// None: records are only inserted and deleted.
    case none
  }

  /// O(k log k) for k changes; O(k²) calls of an identity closure.
  init(_ changes: ChangeSet, identity: Identity) {
    sections = SectionPartners(changes.sectionChanges)
    let isKey = if case .key = identity { true } else { false }
    for change in changes.recordChanges {
      switch change {
      case .insertion(let path, _): insertions.append(path)
      case .deletion(let path, _): deletions.append(path)
      case .move(let from, let to, _, _) where isKey: moves.append((from, to))
      case .update(let from, let to, _, _) where isKey: updates.append((from, to))
      case .move(let from, let to, _, _), .update(let from, let to, _, _):
        deletions.append(from)
        insertions.append(to)
      }
    }
    if case .closure(let isSame) = identity { pair(by: isSame) }
    keepEqualPlaces()
  }

  /// Deletions and moves from the highest old place, then insertions and then updates from the
  /// lowest new one.
  ///
  /// - Parameter isChanged: whether records of an old and a new place show something else.
  /// - Returns: each place at most once as an old one, and once as a new one.
  func ordered(isChanged: (Place, Place) -> Bool) -> [PlaceChange] {
    var departures: [(Place, PlaceChange)] = deletions.map { ($0, .deletion($0)) }
    var changed: [Place] = []
    departures += moves.map { ($0.from, .move(from: $0.from, to: $0.to)) }
    for (from, to) in updates where isChanged(from, to) {
      if from == to {
        changed.append(to)
      } else {
        departures.append((from, .move(from: from, to: to)))
      }
    }
    departures.sort { $0.0 > $1.0 }
    return departures.map(\.1) + insertions.sorted().map(PlaceChange.insertion)
      + changed.sorted().map(PlaceChange.update)
  }

  private mutating func pair(by isSame: (Place, Place) -> Bool) {
    var rest: [Place] = []
    for deletion in deletions {
      if let index = insertions.firstIndex(where: { isSame(deletion, $0) }) {
        moves.append((deletion, insertions.remove(at: index)))
      } else {
        rest.append(deletion)
      }
    }
    deletions = rest
  }

  // MARK: - Records that move and keep their index path

  /// A record that leaves its place among the others, and yet has the index path it had: it stays,
  /// and those that it passed move around it instead.
  ///
  /// As many records as it passed have come before it or gone, so there are at most k of them for
  /// each of the k changes.
  private mutating func keepEqualPlaces() {
    let isStill = { [sections] (move: (from: Place, to: Place)) in
      move.from == move.to && sections.isSame(move.from.section)
    }
    let still = moves.filter(isStill)
    if still.isEmpty { return }
    moves.removeAll(where: isStill)
    for (section, places) in Dictionary(grouping: still.map(\.from), by: \.section) {
      passAround(places.map(\.item).sorted(), in: section)
    }
    updates += still
  }

  private mutating func passAround(_ items: [Int], in section: Int) {
    let old = Gaps(
      items + (deletions + moves.map(\.from)).lazy.filter { $0.section == section }.map(\.item))
    let new = Gaps(
      items + (insertions + moves.map(\.to)).lazy.filter { $0.section == section }.map(\.item))
    var passed: Set<Int> = []
    for item in items {
      let (before, after) = (old.rank(item), new.rank(item))
      passed.formUnion(min(before, after)..<max(before, after))
    }
    let added = passed.map { rank in
      (
        from: Place(section: section, item: old.item(rank)),
        to: Place(section: section, item: new.item(rank))
      )
    }
    let starts = Set(added.map(\.from))
    updates.removeAll { starts.contains($0.from) }
    moves += added
  }
}

/// The items of a section but for some.
private struct Gaps {
  /// The items left out, ascending.
  private let gaps: [Int]

  init(_ items: some Sequence<Int>) { gaps = items.sorted() }

  /// How many of the others stand before `item`. O(log g) for g gaps.
  func rank(_ item: Int) -> Int { item - gaps.partitioningIndex { $0 >= item } }

  /// The item of the others that has so many of them before it. O(log g).
  func item(_ rank: Int) -> Int {
    rank + gaps.indices.partitioningIndex { gaps[$0] - $0 > rank }
  }
}

/// Which sections keep their index.
private struct SectionPartners {
  private var deleted: [Int] = []
  private var inserted: [Int] = []

  init(_ changes: [SectionChange]) {
    for change in changes {
      switch change {
      case .deletion(let section, _, _): deleted.append(section)
      case .insertion(let section, _, _): inserted.append(section)
      }
    }
    deleted.sort()
    inserted.sort()
  }

  /// Whether the section at an index is there before and after, and the same one.
  func isSame(_ section: Int) -> Bool {
    guard !deleted.contains(section), !inserted.contains(section) else { return false }
    return deleted.count { $0 < section } == inserted.count { $0 < section }
  }
}
