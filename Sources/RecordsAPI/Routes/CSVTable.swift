import JSON
import OrderedResults

/// Records as comma-separated values (RFC 4180): a header row with the names of the columns, and a row
/// for each record; lines end in CRLF.
///
/// NULL is an empty field, an empty text is `""`. A BLOB is base64, or its URL where its column is shown
/// so. Text stands there as it is, and what a program reads is what was written: one that begins with
/// `=`, `+`, `-` or `@`, which a spreadsheet would take for a formula, gets no mark that would then be
/// part of the data.
struct CSVTable {
  private(set) var bytes: [UInt8] = []

  /// O(bytes).
  init(_ records: some Sequence<Record>, _ form: RecordForm) {
    for (index, name) in form.layout.columns.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      var name = name
      name.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
    endLine()
    for record in records { append(record, form) }
  }

  private mutating func append(_ record: Record, _ form: RecordForm) {
    let start = bytes.count
    record.withColumns { columns in
      for index in form.layout.columns.indices {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(form.shown(columns.next() ?? .null, ofColumn: index, of: record))
      }
    }
    // Many readers pass over an empty line, which a row of one NULL would be.
    if bytes.count == start { bytes += "\"\"".utf8 }
    endLine()
  }

  private mutating func append(_ value: ShownValue) {
    switch value {
    case .stored(.null): break
    case .stored(.integer(let integer)): bytes += String(integer).utf8
    case .stored(.real(let real)): if real.isFinite { bytes += real.description.utf8 }
    case .stored(.blob(let blob)): bytes.appendBase64(of: blob)
    case .stored(.text(let text)), .json(let text): append(text)
    case .boolean(let boolean): bytes += (boolean ? "true" : "false").utf8
    case .moment(let text): bytes += text.bytes
    case .url(let url, bytes: _): bytes += url.utf8
    }
  }

  /// RFC 4180 §2: a field with a comma, a quotation mark or a line break is quoted, and each quotation
  /// mark in it is doubled. What is not UTF-8 becomes U+FFFD.
  private mutating func append(_ text: UnsafeRawBufferPointer) {
    let isPlain = !text.isEmpty && text.allSatisfy { !$0.mustBeQuoted }
    if isPlain { return appendRepaired(text) }
    bytes.append(UInt8(ascii: "\""))
    for part in text.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
      .enumerated()
    {
      if part.offset > 0 { bytes += "\"\"".utf8 }
      appendRepaired(UnsafeRawBufferPointer(rebasing: part.element))
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendRepaired(_ text: UnsafeRawBufferPointer) {
    if text.allSatisfy({ $0 < 0x80 }) {
      bytes.append(contentsOf: text)
    } else {
      bytes += String(decoding: text, as: UTF8.self).utf8
    }
  }

  private mutating func endLine() { bytes += "\r\n".utf8 }
}

extension UInt8 {
  fileprivate var mustBeQuoted: Bool {
    switch self {
    case UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D: true
    default: false
    }
  }
}
