/// What stands behind OVER.
enum WindowReference {
  /// A window of the WINDOW clause.
  case name(String)
  /// What stands between parentheses.
  case body(ArraySlice<SQLToken>)
}

/// The rows that a window function looks at, as OVER or the WINDOW clause says.
///
/// https://www.sqlite.org/windowfunctions.html
struct WindowDefinition {
  private(set) var partition: [String] = []
  private(set) var order: [OrderTerm] = []
  /// From ROWS, RANGE or GROUPS on; empty: the rows up to the current one and those that ORDER BY
  /// takes for equal to it.
  private(set) var frame: ArraySlice<SQLToken> = []

  private static let frameWords = ["ROWS", "RANGE", "GROUPS"]

  /// Whether the frame may end between rows that ORDER BY takes for equal.
  ///
  /// Each of these words may be a column's name, too: what may be a frame counts as one.
  var dividesEqualRows: Bool { frame.contains { $0.isWord("ROWS") } }

  /// Whether rows are only added to the frame, from one row of the partition to the next.
  var onlyGrows: Bool {
    if frame.isEmpty { return true }
    let rest = frame.dropFirst().drop { $0.isWord("BETWEEN") }
    return rest.first?.isWord("UNBOUNDED") == true && !frame.contains { $0.isWord("EXCLUDE") }
  }

  /// Whether no row of the frame comes behind the current one, but for those that ORDER BY takes for equal.
  var endsWithRow: Bool {
    if frame.contains(where: { $0.isWord("EXCLUDE") }) { return false }
    guard frame.contains(where: { $0.isWord("BETWEEN") }) else { return true }
    return frame.last?.isWord("ROW") == true || frame.last?.isWord("PRECEDING") == true
  }

  /// Whether the frame has all rows up to the current one, where no two are equal.
  var isPrefix: Bool {
    let words = frame.dropFirst().map { $0.text.uppercased() }
    return frame.isEmpty || words == ["UNBOUNDED", "PRECEDING"]
      || words == ["BETWEEN", "UNBOUNDED", "PRECEDING", "AND", "CURRENT", "ROW"]
  }

  /// `[base] [PARTITION BY …] [ORDER BY …] [frame]`: https://www.sqlite.org/syntax/window-defn.html
  ///
  /// - Parameters:
  ///   - body: what stands between the parentheses.
  ///   - named: the windows of the WINDOW clause.
  /// - Throws: ``NotIncremental`` where it is based on a window that is not there.
  init(_ body: ArraySlice<SQLToken>, _ named: NamedWindows) throws(NotIncremental) {
    var rest = body.atDepthZero[...]
    let words = ["PARTITION", "ORDER"] + Self.frameWords
    if let name = rest.first?.name, !words.contains(where: { rest.first?.isWord($0) == true }) {
      self = try named.definition(of: name)
      rest.removeFirst()
    }
    if rest.take("PARTITION"), rest.take("BY") {
      let end = rest.firstIndex { $0.isWord("ORDER") && $0.depth == 0 } ?? rest.endIndex
      partition = Self.beforeFrame(rest[..<end]).members.map(\.sourceText)
    }
    if let start = rest.firstIndex(where: { $0.isWord("ORDER") && $0.depth == 0 }) {
      order = Self.beforeFrame(rest[(start + 2)...]).members.map { OrderTerm($0.sourceText) }
    }
    frame = rest[(rest.startIndex + Self.beforeFrame(rest).count)...]
  }

  /// The text that it is made of with more terms at the end of ORDER BY, which go the way of the one before
  /// them; nil: the window that it is based on has the ORDER BY.
  func adding(_ terms: [String], toOrderIn body: ArraySlice<SQLToken>) -> String? {
    let body = body.atDepthZero[...]
    let rest = Self.beforeFrame(body)
    let hasOrder = rest.contains { $0.isWord("ORDER") && $0.depth == 0 }
    guard hasOrder || order.isEmpty else { return nil }
    let direction = order.last?.isDescending == true ? " DESC" : ""
    let list = terms.map { $0 + direction }.joined(separator: ", ")
    let frame = body[rest.endIndex...].sourceText
    return "\(rest.sourceText)\(hasOrder ? ", " : " ORDER BY ")\(list) \(frame)".trimmingSpaces
  }

  private static func beforeFrame(_ tokens: ArraySlice<SQLToken>) -> ArraySlice<SQLToken> {
    tokens.prefix { token in token.depth > 0 || !frameWords.contains(where: token.isWord) }
  }
}

/// The windows of a WINDOW clause.
struct NamedWindows {
  private var bodies: [(name: String, body: ArraySlice<SQLToken>)] = []

  /// - Parameter texts: `name AS (…)`, each.
  init(_ texts: [String]) {
    for text in texts {
      var tokens = SQLTokens.tokens(of: text)[...]
      guard let name = tokens.popFirst()?.name, tokens.take("AS"),
        let body = tokens.takeParentheses()
      else { continue }
      bodies.append((name, body))
    }
  }

  /// What stands between the parentheses of a window; nil: it is none of these.
  func body(of window: WindowReference) -> ArraySlice<SQLToken>? {
    switch window {
    case .body(let body): body
    case .name(let name): bodies.first { $0.name.isSameIdentifier(as: name) }?.body
    }
  }

  func definition(of window: WindowReference) throws(NotIncremental) -> WindowDefinition {
    switch window {
    case .body(let body): try WindowDefinition(body, self)
    case .name(let name): try definition(of: name)
    }
  }

  func definition(of name: String) throws(NotIncremental) -> WindowDefinition {
    guard let index = bodies.firstIndex(where: { $0.name.isSameIdentifier(as: name) }) else {
      throw NotIncremental(reason: "which rows the window \(name) has is not certain")
    }
    var others = self
    // No window is based on itself.
    let body = others.bodies.remove(at: index).body
    return try WindowDefinition(body, others)
  }
}
