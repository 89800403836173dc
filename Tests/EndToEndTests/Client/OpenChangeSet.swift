/// A change set under way: its events in the order of `protocol.md` §4, each record named once.
struct OpenChangeSet {
  private let header: JSONValue
  /// The section and record changes so far.
  private(set) var events: [ReceivedEvent] = []
  private var changes: [JSONValue] = []
  private var lastPlace = Place(phase: .sectionDeletion, position: [.max])
  private var old: Set<[Int]> = []
  private var new: Set<[Int]> = []

  /// The parts of a change set, in their order.
  private enum Phase: Int {
    case sectionDeletion, sectionInsertion, removal, insertion, update
  }

  private struct Place {
    var phase: Phase
    var position: [Int]

    /// Whether a change may stand behind another one.
    func mayFollow(_ other: Place) -> Bool {
      if phase != other.phase { return phase.rawValue > other.phase.rawValue }
      let isDescending = phase == .sectionDeletion || phase == .removal
      return isDescending
        ? position.lexicographicallyPrecedes(other.position)
        : other.position.lexicographicallyPrecedes(position)
    }
  }

  init(_ event: ReceivedEvent, after version: String, _ commit: Int) throws {
    header = try event.json
    // Another server, or another life of it, has other numbers for the same states.
    guard header["from"].string?.stateOfVersion == version.stateOfVersion else {
      throw ContractViolation("versions do not chain: \(version) was before", at: event)
    }
    guard header["version"].string != version else {
      throw ContractViolation("another state needs another version", at: event)
    }
    // It may stay: a fetch by hand may find other values in the same commit.
    guard (header["commit"].int ?? 0) >= commit else {
      throw ContractViolation("commits do not go back: \(commit) was before", at: event)
    }
  }

  mutating func append(_ event: ReceivedEvent) throws {
    let change = try event.json
    let place = try Self.place(of: change, in: event)
    guard place.mayFollow(lastPlace) else { throw ContractViolation("out of order", at: event) }
    lastPlace = place
    if let path = change.oldPath, !old.insert(path).inserted {
      throw ContractViolation("an old record is named twice", at: event)
    }
    if let path = change.newPath, !new.insert(path).inserted {
      throw ContractViolation("a new record is named twice", at: event)
    }
    events.append(event)
    changes.append(change)
  }

  private static func place(of change: JSONValue, in event: ReceivedEvent) throws -> Place {
    switch (event.type, change["type"].string, change.oldPath, change.newPath) {
    case ("sectionChange", "deletion", nil, nil):
      return Place(phase: .sectionDeletion, position: [try change.section])
    case ("sectionChange", "insertion", nil, nil):
      return Place(phase: .sectionInsertion, position: [try change.section])
    case ("change", "deletion", let path?, nil), ("change", "move", let path?, .some):
      return Place(phase: .removal, position: path)
    case ("change", "insertion", nil, let path?):
      return Place(phase: .insertion, position: path)
    case ("change", "update", .some, let path?):
      return Place(phase: .update, position: path)
    default: throw ContractViolation("no such change", at: event)
    }
  }

  func checkEnd(_ data: JSONValue, _ event: ReceivedEvent) throws {
    for name in ["query", "parameters", "from", "version", "commit"]
    where data[name] != header[name] {
      throw ContractViolation("\(name) was \(header[name])", at: event)
    }
    guard header["numberOfChanges"].int == changes.count else {
      throw ContractViolation("there were \(changes.count) changes, of \(header)", at: event)
    }
  }

  // MARK: - protocol.md §3

  /// The five steps.
  func apply(to sections: inout [ClientModel.Section]) throws {
    let before = sections
    try takeOut(of: &sections)
    let numbers = try changes.map { change in
      (change["type"].string, change.member("section") == nil ? -1 : try change.section)
    }
    for (change, (type, index)) in zip(changes, numbers) where index >= 0 && type == "deletion" {
      guard sections.indices.contains(index), sections[index].records.isEmpty,
        sections[index].name == change["name"], sections[index].indexTitle == change["indexTitle"]
      else { throw ContractViolation("step 2: \(change) of \(sections)") }
      sections.remove(at: index)
    }
    for (change, (type, index)) in zip(changes, numbers) where index >= 0 && type == "insertion" {
      guard index <= sections.count else { throw ContractViolation("step 3: \(change)") }
      sections.insert(
        .init(name: change["name"], indexTitle: change["indexTitle"], records: []), at: index)
    }
    try putIn(to: &sections)
    try update(&sections, from: before)
  }

  private func takeOut(of sections: inout [ClientModel.Section]) throws {
    for change in changes where change["type"].string == "deletion" || change.isMove {
      guard let path = change.oldPath else { continue }
      guard let record = sections.record(at: path) else {
        throw ContractViolation("step 1: there is no record for \(change)")
      }
      try change.check(continues: record)
      sections[path[0]].records.remove(at: path[1])
    }
  }

  private func putIn(to sections: inout [ClientModel.Section]) throws {
    let arrivals = changes.filter { $0["type"].string == "insertion" || $0.isMove }
      .compactMap { change in change.newPath.map { (path: $0, change: change) } }
      .sorted { $0.path.lexicographicallyPrecedes($1.path) }
    for (path, change) in arrivals {
      guard sections.indices.contains(path[0]), path[1] <= sections[path[0]].records.count else {
        throw ContractViolation("step 4: there is no place for \(change)")
      }
      sections[path[0]].records.insert(try .init(change), at: path[1])
    }
  }

  private func update(
    _ sections: inout [ClientModel.Section], from before: [ClientModel.Section]
  ) throws {
    for change in changes where change["type"].string == "update" {
      guard let path = change.newPath, let record = sections.record(at: path),
        let oldPath = change.oldPath, before.record(at: oldPath) == record
      else { throw ContractViolation("step 5: the record of \(change) is not there") }
      try change.check(continues: record)
      sections[path[0]].records[path[1]] = try .init(change)
    }
  }
}

extension [ClientModel.Section] {
  fileprivate func record(at path: [Int]) -> ClientModel.Record? {
    guard indices.contains(path[0]), self[path[0]].records.indices.contains(path[1]) else {
      return nil
    }
    return self[path[0]].records[path[1]]
  }
}

extension JSONValue {
  fileprivate var oldPath: [Int]? { path("indexPath") }
  fileprivate var newPath: [Int]? { path("newIndexPath") }
  fileprivate var isMove: Bool { self["type"].string == "move" }

  fileprivate var section: Int {
    get throws {
      guard let index = self["section"].int, index >= 0 else {
        throw ContractViolation("no section in \(self)")
      }
      return index
    }
  }

  private func path(_ name: String) -> [Int]? {
    guard let path = member(name)?.elements.compactMap(\.int), path.count == 2 else { return nil }
    return path.allSatisfy { $0 >= 0 } ? path : nil
  }

  /// A deletion carries the old record; an update and a move the old values of exactly the columns
  /// that differ.
  fileprivate func check(continues old: ClientModel.Record) throws {
    guard self["key"] == old.key else { throw ContractViolation("\(old.key) became \(self)") }
    if self["type"].string == "deletion" {
      guard self["record"] == old.values else { throw ContractViolation("\(self) was \(old)") }
      return
    }
    let columns = old.values.names
    guard self["record"].names == columns else { throw ContractViolation("\(self) was \(old)") }
    let changed = columns.filter { self["record"][$0] != old.values[$0] }
    guard self["changes"].names == changed,
      changed.allSatisfy({ self["changes"][$0] == old.values[$0] }), isMove || !changed.isEmpty
    else { throw ContractViolation("the changes are not those: \(self) was \(old)") }
  }
}
