import Foundation

extension RemoteRecords {
  /// What a change set makes of these records: the meaning of its events (`protocol.md` §3).
  ///
  /// The changes may come in any order. O(s + n + k log k): s sections, n records in the sections that
  /// they name, k changes.
  ///
  /// - Throws: where a path leads nowhere, one is named twice, or a deleted section is not empty.
  func applying(
    _ changes: [WireChange<Record>], head: Head
  ) throws(ChangeSetError) -> RemoteRecords {
    let sorted = SortedChanges(changes)
    var contents = sections
    for (section, places) in sorted.taken {
      try Self.edit(&contents, section) { rows throws(ChangeSetError) in
        try rows.without(places)
      }
    }
    for index in sorted.deletedSections {
      guard let section = contents[checked: index] else {
        throw ChangeSetError("there is no section \(index)")
      }
      guard section.rows.isEmpty else {
        throw ChangeSetError("section \(index) is not empty")
      }
    }
    contents = try contents.without(sorted.deletedSections)
    contents = try contents.with(sorted.insertedSections)
    for (section, rows) in sorted.placed {
      try Self.edit(&contents, section) { old throws(ChangeSetError) in try old.with(rows) }
    }
    for (section, rows) in sorted.updated {
      try Self.edit(&contents, section) { old throws(ChangeSetError) in try old.replacing(rows) }
    }
    return RemoteRecords(sections: contents, head: head)
  }

  private static func edit(
    _ sections: inout [RemoteRecordsSection<Record>], _ index: Int,
    _ change: ([RemoteRow<Record>]) throws(ChangeSetError) -> [RemoteRow<Record>]
  ) throws(ChangeSetError) {
    guard sections.indices.contains(index) else {
      throw ChangeSetError("there is no section \(index)")
    }
    sections[index].rows = try change(sections[index].rows)
  }
}

/// Changes by what is done with them, then by section.
private struct SortedChanges<Record: Sendable> {
  typealias Placed<Element> = (place: Int, element: Element)

  var taken: [Int: [Int]] = [:]
  var deletedSections: [Int] = []
  var insertedSections: [Placed<RemoteRecordsSection<Record>>] = []
  var placed: [Int: [Placed<RemoteRow<Record>>]] = [:]
  var updated: [Int: [Placed<RemoteRow<Record>>]] = [:]

  init(_ changes: [WireChange<Record>]) {
    for change in changes {
      switch change {
      case .section(.deletion(let index, _)): deletedSections.append(index)
      case .section(.insertion(let index, let name, let title)):
        insertedSections.append(
          (index, RemoteRecordsSection(value: name, indexTitle: title, rows: [])))
      case .record(.deletion(let path), _): taken[path[0], default: []].append(path[1])
      case .record(.insertion(let path), let row):
        if let row { placed[path[0], default: []].append((path[1], row)) }
      case .record(.move(let from, let to, _), let row):
        taken[from[0], default: []].append(from[1])
        if let row { placed[to[0], default: []].append((to[1], row)) }
      case .record(.update(_, let path, _), let row):
        if let row { updated[path[0], default: []].append((path[1], row)) }
      }
    }
  }
}

extension Array {
  fileprivate subscript(checked index: Int) -> Element? {
    indices.contains(index) ? self[index] : nil
  }

  /// Without what stands at each of these places.
  fileprivate func without(_ places: [Int]) throws(ChangeSetError) -> [Element] {
    if places.isEmpty { return self }
    var kept: [Element] = []
    kept.reserveCapacity(Swift.max(0, count - places.count))
    var next = 0
    for place in places.sorted() {
      guard place >= next, place < count else {
        throw ChangeSetError("there is nothing to take out at \(place)")
      }
      kept += self[next..<place]
      next = place + 1
    }
    return kept + self[next...]
  }

  /// With each element put in at its place in the array that comes out.
  fileprivate func with(
    _ placed: [(place: Int, element: Element)]
  ) throws(ChangeSetError) -> [Element] {
    if placed.isEmpty { return self }
    var merged: [Element] = []
    merged.reserveCapacity(count + placed.count)
    var next = 0
    for (place, element) in placed.sorted(by: { $0.place < $1.place }) {
      let between = place - merged.count
      guard between >= 0, next + between <= count else {
        throw ChangeSetError("nothing can be put in at \(place)")
      }
      merged += self[next..<next + between]
      merged.append(element)
      next += between
    }
    return merged + self[next...]
  }

  fileprivate func replacing(
    _ updates: [(place: Int, element: Element)]
  ) throws(ChangeSetError) -> [Element] {
    var copy = self
    for (place, element) in updates {
      guard indices.contains(place) else {
        throw ChangeSetError("there is nothing to update at \(place)")
      }
      copy[place] = element
    }
    return copy
  }
}
