/// The contract was broken; says how, and where in the stream.
struct ContractViolation: Error, CustomStringConvertible {
  let description: String

  init(_ what: String, at event: ReceivedEvent? = nil) {
    description = what + (event.map { "\nat the event \($0)" } ?? "")
  }
}

/// A client of one query: it holds what the stream has shown, and applies change sets by the letter
/// of `protocol.md` §3. Whatever breaks a promise on the way is an error.
struct ClientModel {
  struct Section: Equatable {
    var name: JSONValue
    var indexTitle: JSONValue
    var records: [Record]
  }

  struct Record: Equatable {
    var key: JSONValue
    var values: JSONValue
  }

  private(set) var version = ""
  private(set) var commit = 0
  private(set) var sections: [Section] = []
  /// Of the whole result, where the stream shows a window of it.
  private(set) var total: JSONValue?
  private(set) var alongside: JSONValue?
  /// On a stream of several queries change sets carry no id of their own.
  var isOneOfSeveral = false
  /// Whether commits are held against something else than the one before.
  var ignoresCommits = false

  private var open: OpenChangeSet?

  var records: [Record] { sections.flatMap(\.records) }

  var isInsideChangeSet: Bool { open != nil }

  /// Takes the next event.
  ///
  /// - Returns: the events of the change set that this one completes, if it does.
  mutating func receive(_ event: ReceivedEvent) throws -> [ReceivedEvent]? {
    try checkID(event)
    switch event.type {
    case "snapshot":
      try begin(with: try event.json, event)
    case "willChange":
      guard open == nil else { throw ContractViolation("a change set inside another", at: event) }
      open = try OpenChangeSet(event, after: version, ignoresCommits ? 0 : commit)
    case "sectionChange", "change":
      guard open != nil else { throw ContractViolation("outside of a change set", at: event) }
      try open?.append(event)
    case "didChange":
      guard let changes = open else { throw ContractViolation("no willChange", at: event) }
      open = nil
      try end(changes, event)
      return changes.events
    case "fetchError", "recovered":
      guard open == nil else { throw ContractViolation("inside a change set", at: event) }
    default: throw ContractViolation("an unknown event", at: event)
    }
    return nil
  }

  /// Only `snapshot` and `didChange` carry an id: a stream that breaks inside a change set is
  /// resumed before it.
  private func checkID(_ event: ReceivedEvent) throws {
    if isOneOfSeveral { return }
    let mayCarry = event.type == "snapshot" || event.type == "didChange"
    guard event.carriesID == mayCarry else {
      throw ContractViolation(mayCarry ? "no id" : "an id", at: event)
    }
    guard try !mayCarry || event.json["version"].string == event.lastEventID else {
      throw ContractViolation("the id is not the version", at: event)
    }
  }

  private mutating func begin(with data: JSONValue, _ event: ReceivedEvent) throws {
    guard open == nil else { throw ContractViolation("inside a change set", at: event) }
    var rest = try data["records"].elements.map(Record.init)[...]
    var offset = 0
    sections = []
    for (index, section) in data["sections"].elements.enumerated() {
      let count = section["numberOfRecords"].int ?? -1
      guard section["index"].int == index, section["offset"].int == offset, count <= rest.count
      else { throw ContractViolation("section \(index) is not where it is", at: event) }
      sections.append(
        Section(
          name: section["name"], indexTitle: section["indexTitle"],
          records: Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
      offset += count
    }
    guard rest.isEmpty else { throw ContractViolation("records outside of sections", at: event) }
    try note(data, event)
  }

  private mutating func end(_ changes: OpenChangeSet, _ event: ReceivedEvent) throws {
    let data = try event.json
    try changes.checkEnd(data, event)
    // One of several queries may get another number for what it shows.
    let isRenamed =
      isOneOfSeveral && version.stateOfVersion == data["version"].string?.stateOfVersion
    guard !changes.events.isEmpty || data.member("alongside") != alongside || isRenamed else {
      throw ContractViolation("no net change, no event", at: event)
    }
    try changes.apply(to: &sections)
    guard data["numberOfSections"].int == sections.count else {
      throw ContractViolation("there are \(sections.count) sections", at: event)
    }
    try note(data, event)
  }

  /// Remembers what names the state, and checks its counts.
  private mutating func note(_ data: JSONValue, _ event: ReceivedEvent) throws {
    guard let version = data["version"].string, let commit = data["commit"].int else {
      throw ContractViolation("no version or commit", at: event)
    }
    guard data["numberOfRecords"].int == records.count else {
      throw ContractViolation("there are \(records.count) records", at: event)
    }
    let isUnsectioned = sections.map(\.name) == [.null]
    guard isUnsectioned || !sections.contains(where: \.records.isEmpty) else {
      throw ContractViolation("a section is empty", at: event)
    }
    for (a, b) in zip(sections, sections.dropFirst()) where a.name == b.name {
      throw ContractViolation("two neighbouring sections are named \(a.name)", at: event)
    }
    self.version = version
    self.commit = commit
    total = data.member("totalNumberOfRecords")
    alongside = data.member("alongside")
  }
}

extension ClientModel.Record {
  init(_ json: JSONValue) throws {
    guard let key = json.member("key"), let values = json.member("record"), case .array = key
    else { throw ContractViolation("no record: \(json)") }
    self.init(key: key, values: values)
  }
}
