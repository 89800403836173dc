import FetchedRecords
import HTTPServer
import HTTPTypes
import JSON
import OrderedResults

/// Writes the events of `protocol.md` §4.
///
/// One value writes one unit: all the events of a change set, or a snapshot; the bytes are encoded
/// once, however many streams they go to.
struct ChangeEvents {
  private(set) var json = JSONWriter(reserving: Self.usualSize)
  /// What the events call their query.
  let member: MemberName

  var bytes: [UInt8] { json.bytes }

  /// How many events were written.
  private(set) var count = 0

  private let givesIDs: Bool

  /// As long as a change of a record or two.
  private static let usualSize = 1536

  /// A change set of at most so many bytes is told as it happens, whatever its snapshot has: it says
  /// what changed, which a snapshot does not, and a socket takes it at once.
  static let alwaysTold = 64 * 1024

  /// - Parameters:
  ///   - member: which query the events are of.
  ///   - givesIDs: whether a stream can be resumed after each change set.
  init(member: MemberName, givesIDs: Bool = true) {
    self.member = member
    self.givesIDs = givesIDs
  }

  /// The event of one failure.
  static func failure(_ failure: FetchFailure, member: MemberName) -> [UInt8] {
    var events = ChangeEvents(member: member)
    events.append(failure)
    return events.bytes
  }

  /// The event of a query that can be read again, and shows what it has shown.
  static func recovery(_ snapshot: ResultsSnapshot, member: MemberName) -> [UInt8] {
    var events = ChangeEvents(member: member)
    events.event("recovered") { json in
      json.member("version", snapshot.version.description)
      json.member("commit", snapshot.commit)
    }
    return events.bytes
  }

  /// The event of why a stream ends.
  static func failure(_ problem: Problem, member: MemberName) -> [UInt8] {
    var events = ChangeEvents(member: member)
    events.append(problem)
    return events.bytes
  }

  /// What follows the change sets of one commit on a stream of several queries.
  static func commit(_ commit: Int, id: String) -> [UInt8] {
    Array("event: commit\nid: \(id)\ndata: {\"commit\":\(commit)}\n\n".utf8)
  }

  /// All events of one change set, in the order of the contract, or as many of them as it takes to
  /// know that they are more than the snapshot and a tenth.
  ///
  /// `size` is that of the snapshot of `new`; up to `allowance` bytes it does not matter. Returns
  /// whether all events were written; if not, what was written is of no use.
  mutating func append(
    _ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot, total: Int? = nil,
    unlessLongerThan size: SnapshotSize, allowance: Int = Self.alwaysTold
  ) -> Bool {
    let start = bytes.count
    var lookAt = allowance
    begin(changes, from: old, to: new)
    let form = RecordForm(new, member.arguments)
    for change in changes.recordChanges {
      append(change, form)
      let written = bytes.count - start
      guard written > lookAt else { continue }
      if size.isExceeded(by: written) { return false }
      lookAt = written + ChangeSetPieces.pieceSize
    }
    end(from: old, to: new, total: total)
    let written = bytes.count - start
    return written <= allowance || !size.isExceeded(by: written)
  }

  /// `willChange` and the section changes.
  mutating func begin(
    _ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot
  ) {
    event("willChange") { json in
      json.member("from", old.version.description)
      json.member("version", new.version.description)
      json.member("commit", new.commit)
      json.member("numberOfChanges", changes.count)
    }
    for change in changes.sectionChanges { append(change) }
  }

  /// `didChange`.
  mutating func end(from old: ResultsSnapshot, to new: ResultsSnapshot, total: Int?) {
    event("didChange", id: givesIDs ? new.version.description : nil) { json in
      json.member("from", old.version.description)
      json.member("version", new.version.description)
      json.member("commit", new.commit)
      json.member("numberOfRecords", new.results.count)
      json.member("numberOfSections", new.results.numberOfSections)
      if let total { json.member("totalNumberOfRecords", total) }
      json.alongside(new.alongside)
    }
  }

  private mutating func append(_ change: SectionChange) {
    event("sectionChange", named: false) { json in
      switch change {
      case .insertion(let section, let name, let indexTitle):
        json.sectionChange("insertion", section, name, indexTitle)
      case .deletion(let section, let name, let indexTitle):
        json.sectionChange("deletion", section, name, indexTitle)
      }
    }
  }

  /// `change`.
  mutating func append(_ change: RecordChange, _ form: RecordForm) {
    event("change", named: false) { json in
      switch change {
      case .insertion(let path, let record):
        json.member("type", "insertion")
        json.indexPath("newIndexPath", path)
        json.keyAndRecord(record, form)
      case .deletion(let path, let record):
        json.member("type", "deletion")
        json.indexPath("indexPath", path)
        json.keyAndRecord(record, form)
      case .move(let from, let to, let old, let new):
        json.member("type", "move")
        json.relocation(from: from, to: to, old: old, new: new, form)
      case .update(let from, let to, let old, let new):
        json.member("type", "update")
        json.relocation(from: from, to: to, old: old, new: new, form)
      }
    }
  }

  /// The last change could not be worked out.
  mutating func append(_ failure: FetchFailure) {
    append(Problem(failure))
  }

  private mutating func append(_ problem: Problem) {
    event("fetchError") { json in
      json.member("status", problem.status.code)
      json.member("title", problem.status.reasonPhrase)
      json.member("detail", problem.detail)
    }
  }

  /// One event; its data is one line, since JSON escapes every line break.
  private mutating func event(
    _ name: StaticString, id: String? = nil, named: Bool = true,
    _ members: (inout JSONWriter) -> Void
  ) {
    json.beginEvent(name, id: id)
    json.object { json in
      if named || member.isAlwaysNamed { member.append(to: &json) }
      members(&json)
    }
    json.raw("\n\n")
    count += 1
  }
}

/// What a stream's events call their query; on a stream of several queries every event says it.
struct MemberName: Sendable {
  let query: String
  let arguments: QueryArguments
  /// Tells apart the windows of one query that share a stream.
  let window: Window?
  let isAlwaysNamed: Bool

  func append(to json: inout JSONWriter) {
    json.member("query", query)
    guard isAlwaysNamed else { return }
    if !arguments.isEmpty { json.object("parameters", arguments) }
    guard let window else { return }
    json.object("window") { json in
      json.member("offset", window.offset)
      if let limit = window.limit { json.member("limit", limit) }
    }
  }
}

extension JSONWriter {
  mutating func beginEvent(_ name: StaticString, id: String?) {
    raw("event: ")
    raw(name)
    if let id {
      raw("\nid: ")
      raw(text: id)
    }
    raw("\ndata: ")
  }

  fileprivate mutating func sectionChange(
    _ type: String, _ section: Int, _ name: Value, _ indexTitle: String
  ) {
    member("type", type)
    member("section", section)
    member("name", name)
    member("indexTitle", indexTitle)
  }

  fileprivate mutating func relocation(
    from: IndexPath, to: IndexPath, old: Record, new: Record, _ form: RecordForm
  ) {
    indexPath("indexPath", from)
    indexPath("newIndexPath", to)
    key(of: new, layout: form.layout)
    object("changes") { json in
      for column in form.layout.changedColumns(from: old, to: new) {
        json.name(form.layout.columns[column])
        json.value(old.value(column), ofColumn: column, of: new, form)
      }
    }
    name("record")
    record(new, form)
  }

  mutating func keyAndRecord(_ record: Record, _ form: RecordForm) {
    key(of: record, layout: form.layout)
    name("record")
    self.record(record, form)
  }

  mutating func alongside(_ values: [NamedValue]) {
    if values.isEmpty { return }
    object("alongside") { json in
      for item in values { json.member(item.name, item.value) }
    }
  }
}
