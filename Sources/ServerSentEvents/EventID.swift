/// What a client sends back in `Last-Event-ID`, fit for one `id:` line.
package struct EventID: Sendable, Hashable {
  let line: [UInt8]

  /// nil: the text would end its line, or has a NUL, which makes parsers ignore the whole field
  /// (WHATWG HTML §9.2.6).
  ///
  /// Empty is allowed, and makes the client forget its last id.
  package init?(_ text: String) {
    guard EventType.fitsOneLine(text), !text.utf8.contains(0) else { return nil }
    line = Array("id: \(text)\n".utf8)
  }
}
