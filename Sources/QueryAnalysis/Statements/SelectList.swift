/// The result columns of a statement: the visible ones first, then those that only the engine sees.
struct SelectList {
  let visible: [String]
  private(set) var hidden: [HiddenColumn] = []

  init(visible: [String]) { self.visible = visible }

  var count: Int { visible.count + hidden.count }

  /// The position of the visible column that `expression` simply names.
  func position(ofVisible expression: String) -> Int? {
    let name = expression.trimmingSpaces
    return visible.firstIndex { $0.isSameIdentifier(as: name) || $0.quotedIdentifier == name }
  }

  /// Adds a hidden column and returns its position.
  mutating func append(hidden expression: String, part: [String]) -> Int {
    hidden.append(HiddenColumn(expression: expression, part: part))
    return count - 1
  }
}

/// A result column that no client sees: a key column, a section name, a section index title.
struct HiddenColumn {
  let expression: String
  /// Where the configuration asks for it.
  let part: [String]
}

extension String {
  package var trimmingSpaces: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[first...last])
  }
}
