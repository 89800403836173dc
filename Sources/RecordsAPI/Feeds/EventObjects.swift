import JSON
import ServerSentEvents

/// Turns events as the server's streams have them into JSON objects,
/// `{"event":…,"id":…,"data":…}`: in pieces of any size, which are sent on as they come.
///
/// The data of each event is one line of JSON (``ChangeEvents``), so that it stands in the object as
/// it is; a parser that hands over whole events would hold a whole snapshot.
///
/// O(bytes), one copy.
struct EventObjects {
  enum Form {
    /// A line for each event, `{"id":…}` for an id without one, and an empty line for each comment
    /// (`protocol.md` §8, NDJSON).
    case lines
    /// The elements of a JSON array: without ids, and without what happened in between and is over.
    case elements
  }

  private let form: Form
  /// The beginning of the line under way, where that is no data.
  private var line: [UInt8] = []
  private var name: [UInt8] = []
  private var id: [UInt8]?
  private var place = Place.field
  /// What the first event is called; nil: there was none.
  private(set) var first: String?

  private enum Place {
    /// In a field that is kept until its line ends.
    case field
    /// In data, which goes on into the object.
    case data
    /// In data of an event that is left out.
    case nothing
  }

  private static let dataField = Array("data: ".utf8)

  init(_ form: Form) { self.form = form }

  /// Appends what some more bytes of the events become.
  mutating func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    output.reserveCapacity(output.count + bytes.count + 64)
    bytes.withUnsafeBytes { bytes in
      var position = 0
      while position < bytes.count {
        if place == .field {
          takeByte(bytes[position], &output)
          position += 1
          continue
        }
        let end = LineEnd.first(in: bytes, from: position)
        if place == .data { output.append(contentsOf: bytes[position..<(end ?? bytes.count)]) }
        guard let end else { return }
        endData(&output)
        position = end + 1
      }
    }
  }

  /// Fields are short but for the data.
  private mutating func takeByte(_ byte: UInt8, _ output: inout [UInt8]) {
    if byte == LineEnd.lineFeed {
      endField(&output)
      line.removeAll(keepingCapacity: true)
      return
    }
    line.append(byte)
    guard line.count == Self.dataField.count, line == Self.dataField else { return }
    line.removeAll(keepingCapacity: true)
    beginData(&output)
  }

  private mutating func endField(_ output: inout [UInt8]) {
    if let value = value(of: "event: ") {
      name = value
    } else if let value = value(of: "id: ") {
      id = value
    } else if line.isEmpty {
      // Who resumes learns what the version is called here.
      if form == .lines, name.isEmpty, let id { Self.appendID(id, &output) }
      (name, id) = ([], nil)
    } else if form == .lines, line.first == UInt8(ascii: ":") {
      output.append(LineEnd.lineFeed)
    }
  }

  private func value(of field: StaticString) -> [UInt8]? {
    field.withUTF8Buffer { field in
      line.starts(with: field) ? Array(line.dropFirst(field.count)) : nil
    }
  }

  /// A block that has only an id.
  private static func appendID(_ id: [UInt8], _ output: inout [UInt8]) {
    var json = JSONWriter()
    json.object { $0.member("id", String(decoding: id, as: UTF8.self)) }
    output += json.bytes
    output.append(LineEnd.lineFeed)
  }

  private mutating func beginData(_ output: inout [UInt8]) {
    let name = String(decoding: name, as: UTF8.self)
    if form == .elements, name == "fetchError" || name == "recovered" {
      place = .nothing
      return
    }
    place = .data
    if form == .elements, first != nil { output.append(UInt8(ascii: ",")) }
    if first == nil { first = name }
    var json = JSONWriter()
    json.begin("{")
    json.member("event", name)
    if form == .lines, let id { json.member("id", String(decoding: id, as: UTF8.self)) }
    json.name("data")
    output += json.bytes
  }

  private mutating func endData(_ output: inout [UInt8]) {
    if place == .data {
      output.append(UInt8(ascii: "}"))
      if form == .lines { output.append(LineEnd.lineFeed) }
    }
    place = .field
  }
}
