import Algorithms

/// The result columns of a statement: the visible ones first, then those that only the engine sees.
struct SelectList {
  let visible: [String]
  /// Expressions: key columns, a section name, a section index title, terms of the order.
  private(set) var hidden: [String] = []

  init(visible: [String]) { self.visible = visible }

  var count: Int { visible.count + hidden.count }

  /// The position of the visible column that `expression` simply names.
  func position(ofVisible expression: String) -> Int? {
    let name = expression.trimmingSpaces
    return visible.firstIndex { $0.isSameIdentifier(as: name) || $0.quotedIdentifier == name }
  }

  /// The position of the visible column that `expression` names, or of a hidden one for it.
  mutating func place(of expression: String) -> Int {
    position(ofVisible: expression) ?? append(hidden: expression)
  }

  /// A SELECT of its visible columns, with the hidden ones behind them.
  func added(to select: String) -> String {
    if hidden.isEmpty { return select }
    let columns = hidden.map(\.parenthesized).joined(separator: ", ")
    return "SELECT *, \(columns) FROM (\n\(select)\n)"
  }

  /// Adds a hidden column and returns its position.
  mutating func append(hidden expression: String) -> Int {
    hidden.append(expression)
    return count - 1
  }
}

extension String {
  var trimmingSpaces: String { String(trimming(while: \.isWhitespace)) }
}
