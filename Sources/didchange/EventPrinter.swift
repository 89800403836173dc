import FetchedRecordsClient
import ServerSentEvents

/// Turns the events of a stream into lines for a person.
///
/// A change set is shown when it is whole: one that the connection breaks off comes again.
struct EventPrinter {
  /// A snapshot shows so many records: enough to recognize it, and the changes stay in sight.
  static let shownRecords = 20

  let terminal: Terminal
  private(set) var pending: [String] = []

  mutating func lines(_ event: ServerSentEvent) -> [String] {
    let object = RawJSON(event.data).object
    switch event.type {
    case "snapshot":
      pending = []
      return snapshot(object)
    case "willChange":
      pending = []
      return []
    case "sectionChange":
      pending.append(sectionChange(object))
      return []
    case "change":
      pending.append(change(object))
      return []
    case "didChange":
      defer { pending = [] }
      return [headline(object, what: counted(pending.count, "change"))] + pending
        + alongside(object)
    case "fetchError":
      let text = ["status", "title", "detail"].compactMap { object[$0]?.plain }
      return [line("! \(query(object)) \(text.joined(separator: " "))", .red)]
    case "recovered": return [line("  \(query(object)) can be read again", .green)]
    case "commit": return []
    default: return [terminal.fit("\(event.type) \(event.data)", taken: 0)]
    }
  }

  private func snapshot(_ object: [String: RawJSON]) -> [String] {
    let sections = object["sections"]?.elements().map(\.object) ?? []
    let records = object["records"]?.elements(limit: Self.shownRecords) ?? []
    let count = object["numberOfRecords"]?.int ?? records.count
    let what = "\(counted(count, "record")) in \(counted(sections.count, "section"))"
    var lines = [headline(object, what: what)]
    for (index, section) in sections.enumerated() {
      let offset = section["offset"]?.int ?? 0
      let length = section["numberOfRecords"]?.int ?? 0
      // Whatever a server says its sections are, these are the records.
      guard offset >= 0, offset < records.count || count == 0 else { break }
      if section["name"]?.isNull != true {
        lines.append(line("  \(section["name"]?.plain ?? "")", .bold))
      }
      for (item, element) in records.dropFirst(offset).prefix(max(0, length)).enumerated() {
        let record = element["record"]?.text ?? ""
        let place = "    [\(index),\(item)] "
        lines.append(place + terminal.fit(record, taken: place.count))
      }
    }
    if count > records.count {
      lines.append(terminal.paint("    … and \(count - records.count) more", .dim))
    }
    return lines
  }

  private func sectionChange(_ object: [String: RawJSON]) -> String {
    let name = object["name"]?.plain ?? ""
    let isInsertion = object["type"]?.plain == "insertion"
    let text = "  \(isInsertion ? "+" : "-") section \(object["section"]?.text ?? "") \(name)"
    return line(text, isInsertion ? .green : .red)
  }

  private func change(_ object: [String: RawJSON]) -> String {
    let type = object["type"]?.plain ?? ""
    let (sign, colour): (String, Terminal.Colour) =
      switch type {
      case "insertion": ("+", .green)
      case "deletion": ("-", .red)
      case "move": ("~", .yellow)
      default: ("=", .cyan)
      }
    var places = [object["indexPath"], object["newIndexPath"]].compactMap { $0?.text }
    if places.first == places.last { places = Array(places.prefix(1)) }
    let start = "  \(sign) \(type) \(places.joined(separator: " → ")) "
    let old = (object["changes"]?.members ?? []).map { "\($0.name) was \($0.value.plain)" }
    let end = old.isEmpty ? "" : terminal.fit("  " + old.joined(separator: ", "), taken: 0)
    let record = terminal.fit(object["record"]?.text ?? "", taken: start.count + end.count)
    return terminal.paint(start, colour) + record + terminal.paint(end, .dim)
  }

  private func alongside(_ object: [String: RawJSON]) -> [String] {
    let values = (object["alongside"]?.members ?? []).map { "\($0.name) \($0.value.plain)" }
    return values.isEmpty ? [] : [line("  " + values.joined(separator: ", "), .dim)]
  }

  private func line(_ text: String, _ colour: Terminal.Colour) -> String {
    terminal.paint(terminal.fit(text, taken: 0), colour)
  }

  private func headline(_ object: [String: RawJSON], what: String) -> String {
    let version = object["version"]?.plain ?? ""
    let state = "commit \(object["commit"]?.text ?? "?"), version \(version)"
    return terminal.paint(query(object), .bold) + "  \(what)  " + terminal.paint(state, .dim)
  }

  /// The name of the query, with its parameters where several may be on the stream.
  private func query(_ object: [String: RawJSON]) -> String {
    let name = object["query"]?.plain ?? ""
    return terminal.fit(object["parameters"].map { "\(name) \($0.text)" } ?? name, taken: 0)
  }

  private func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
