import JSON

extension ClaimValue {
  /// As compact JSON. O(n) in its size.
  package var jsonText: String {
    var writer = JSONWriter()
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    // A literal, as a number is one.
    case .boolean(let isTrue): writer.number(isTrue ? "true" : "false")
    case .integer(let integer): writer.integer(integer)
    case .double(let double): writer.real(double)
    case .string(let text): writer.string(text)
    case .array(let elements):
      writer.begin("[")
      for element in elements { element.write(to: &writer) }
      writer.end("]")
    case .object(let claims): claims.write(to: &writer)
    }
  }
}

extension Claims {
  /// As compact JSON, in the order of the members. O(n) in its size.
  package var jsonText: String { ClaimValue.object(self).jsonText }

  /// Reads claims from JSON.
  ///
  /// - Throws: Where it is no object, has two members of one name or U+0000 in a text, or is nested
  ///   more than 32 deep.
  package init(json text: String) throws(JSONProblem) {
    self = try JSONReader.object(Array(text.utf8))
  }

  func write(to writer: inout JSONWriter) {
    writer.begin("{")
    for member in members {
      writer.name(member.name)
      member.value.write(to: &writer)
    }
    writer.end("}")
  }
}
