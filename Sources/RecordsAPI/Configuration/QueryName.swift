/// Which names a query, or one of its orders, may have.
package enum QueryName {
  /// Why a name cannot stand in a URL as it is; nil: it can.
  ///
  /// Only the unreserved characters of RFC 3986 §2.3 need no escape in any part of a URL, and `.`
  /// and `..` would be taken for steps of the path (§5.2.4).
  package static func flaw(_ name: String, of owner: String = "a query") -> Flaw? {
    guard !name.isEmpty, name != ".", name != ".." else {
      return Flaw(
        "\"\(name)\" cannot be the name of \(owner)", mend: "choose a name such as \"players\"")
    }
    guard let character = name.first(where: { !isUnreserved($0) }) else { return nil }
    let mended = String(name.map { isUnreserved($0) ? $0 : "-" })
    return Flaw(
      "the name \"\(name)\" does not fit into a URL, because of \"\(character)\"",
      mend: "use letters of ASCII, digits, \"-\", \".\", \"_\" and \"~\", as in \"\(mended)\"")
  }

  private static func isUnreserved(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
  }
}

/// Which names a parameter may have.
package enum ParameterName {
  /// The names that mean something to the server itself in the query of a URL.
  package static let reserved = [
    "access_token", "after", "before", "cursor", "digest", "heartbeat", "lastEventId", "limit",
    "minInterval", "offset", "order", "query", "snapshot", "wait",
  ]

  /// Why a name can be no parameter; nil: it can.
  package static func flaw(_ name: String) -> Flaw? {
    if let sigil = name.first, ":@$".contains(sigil) {
      return Flaw(
        "the name \"\(name)\" begins with \"\(sigil)\", which belongs to the SQL",
        mend: "write \"\(name.dropFirst())\" here and \":\(name.dropFirst())\" in the SQL")
    }
    if reserved.contains(name) {
      return Flaw(
        "the name \"\(name)\" is reserved: it means something to the server itself",
        mend: "choose another; reserved are \(reserved.joined(separator: ", "))")
    }
    guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) == nil else { return nil }
    return Flaw(
      "\"\(name)\" cannot be the name of a parameter",
      mend: "use letters of ASCII, digits and \"_\", and begin with no digit")
  }
}
