extension ClaimValue {
  /// Whether a claim is what a rule lists.
  ///
  /// - Numbers are compared as numbers, exactly: 7 is 7.0, and no integer is rounded for it.
  /// - A text is never a number: `"7"` is not 7.
  /// - `true` is 1 and `false` is 0, as in SQLite: a column of the claims statement has no booleans.
  /// - An array matches when one of its elements does.
  /// - Null matches nothing, null neither.
  package func matches(_ listed: ClaimValue) -> Bool {
    switch (self, listed) {
    case (.null, _), (_, .null): false
    case (.array(let elements), .array(let listed)):
      elements.contains { element in listed.contains { element.matches($0) } }
    case (.array(let elements), _): elements.contains { $0.matches(listed) }
    case (.string(let text), .string(let listed)): text.hasSameBytes(as: listed)
    case (.object(let claims), .object(let listed)): claims == listed
    default: isNumber(listed)
    }
  }

  private func isNumber(_ listed: ClaimValue) -> Bool {
    if let integer = exactInteger, let listed = listed.exactInteger { return integer == listed }
    if case .double(let double) = self, case .double(let listed) = listed {
      return double == listed
    }
    return false
  }

  /// The integer that a number is, where it is one.
  private var exactInteger: Int64? {
    switch self {
    case .boolean(let isTrue): isTrue ? 1 : 0
    case .integer(let integer): integer
    case .double(let double): Int64(exactly: double)
    default: nil
    }
  }
}
