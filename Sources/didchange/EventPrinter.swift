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
    let members = JSONText.members(event.data)
    let object = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
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
      let text = ["status", "title", "detail"].compactMap { object[$0].map(JSONText.plain) }
      return [line("! \(query(object)) \(text.joined(separator: " "))", .red)]
    case "recovered": return [line("  \(query(object)) can be read again", .green)]
    case "commit": return []
    default: return [terminal.fit("\(event.type) \(event.data)", taken: 0)]
    }
  }

  private func snapshot(_ object: [String: String]) -> [String] {
    let sections = JSONText.elements(object["sections"] ?? "[]", limit: .max).map { section in
      Dictionary(JSONText.members(section).map { ($0.name, $0.value) }) { $1 }
    }
    let records = JSONText.elements(object["records"] ?? "[]", limit: Self.shownRecords)
    let count = Int(object["numberOfRecords"] ?? "") ?? records.count
    let what = "\(counted(count, "record")) in \(counted(sections.count, "section"))"
    var lines = [headline(object, what: what)]
    for (index, section) in sections.enumerated() {
      let offset = Int(section["offset"] ?? "") ?? 0
      let length = Int(section["numberOfRecords"] ?? "") ?? 0
      // Whatever a server says its sections are, these are the records.
      guard offset >= 0, offset < records.count || count == 0 else { break }
      if section["name"] != "null" {
        let name = JSONText.plain(section["name"] ?? "")
        lines.append(line("  \(name)", .bold))
      }
      for (item, element) in records.dropFirst(offset).prefix(max(0, length)).enumerated() {
        let record = JSONText.members(element).first { $0.name == "record" }?.value ?? ""
        let place = "    [\(index),\(item)] "
        lines.append(place + terminal.fit(record, taken: place.count))
      }
    }
    if count > records.count {
      lines.append(terminal.paint("    … and \(count - records.count) more", .dim))
    }
    return lines
  }

  private func sectionChange(_ object: [String: String]) -> String {
    let name = JSONText.plain(object["name"] ?? "")
    let isInsertion = JSONText.plain(object["type"] ?? "") == "insertion"
    let text = "  \(isInsertion ? "+" : "-") section \(object["section"] ?? "") \(name)"
    return line(text, isInsertion ? .green : .red)
  }

  private func change(_ object: [String: String]) -> String {
    let type = JSONText.plain(object["type"] ?? "")
    let (sign, colour): (String, Terminal.Colour) =
      switch type {
      case "insertion": ("+", .green)
      case "deletion": ("-", .red)
      case "move": ("~", .yellow)
      default: ("=", .cyan)
      }
    var places = [object["indexPath"], object["newIndexPath"]].compactMap { $0 }
    if places.first == places.last { places = Array(places.prefix(1)) }
    let start = "  \(sign) \(type) \(places.joined(separator: " → ")) "
    let old = JSONText.members(object["changes"] ?? "{}").map { name, value in
      "\(name) was \(JSONText.plain(value))"
    }
    let end = old.isEmpty ? "" : terminal.fit("  " + old.joined(separator: ", "), taken: 0)
    let record = terminal.fit(object["record"] ?? "", taken: start.count + end.count)
    return terminal.paint(start, colour) + record + terminal.paint(end, .dim)
  }

  private func alongside(_ object: [String: String]) -> [String] {
    let values = JSONText.members(object["alongside"] ?? "{}").map { name, value in
      "\(name) \(JSONText.plain(value))"
    }
    return values.isEmpty ? [] : [line("  " + values.joined(separator: ", "), .dim)]
  }

  private func line(_ text: String, _ colour: Terminal.Colour) -> String {
    terminal.paint(terminal.fit(text, taken: 0), colour)
  }

  private func headline(_ object: [String: String], what: String) -> String {
    let version = JSONText.plain(object["version"] ?? "")
    let state = "commit \(object["commit"] ?? "?"), version \(version)"
    return terminal.paint(query(object), .bold) + "  \(what)  " + terminal.paint(state, .dim)
  }

  /// The name of the query, with its parameters where several may be on the stream.
  private func query(_ object: [String: String]) -> String {
    let name = JSONText.plain(object["query"] ?? "")
    return terminal.fit(object["parameters"].map { "\(name) \($0)" } ?? name, taken: 0)
  }

  private func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
