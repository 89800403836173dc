/// A condition by which only rows up to a place are shown: `place <= 10`, `:n > place`, `place = 1`.
struct PlaceBound {
  /// The name of the column that has the place.
  let place: String
  /// A number or a parameter: no place behind it is shown.
  private let last: String

  /// The comparisons by which what stands on the left is at most what stands on the right, and the other way round.
  private static let atMost = ["<", "<=", "=", "=="]
  private static let atLeast = [">", ">=", "=", "=="]

  /// Nil where it is another condition.
  ///
  /// - Parameter condition: one of those that AND joins.
  init?(_ condition: ArraySlice<SQLToken>) {
    guard let (left, sign, right) = condition.withoutParentheses.comparison else { return nil }
    if let last = Self.value(right), left.columnName != nil, Self.atMost.contains(sign) {
      (place, self.last) = (left.sourceText, last)
    } else if let last = Self.value(left), right.columnName != nil, Self.atLeast.contains(sign) {
      (place, self.last) = (right.sourceText, last)
    } else {
      return nil
    }
  }

  private static func value(_ side: ArraySlice<SQLToken>) -> String? {
    let side = side.withoutParentheses
    guard side.count == 1, let token = side.first, [.number, .parameter].contains(token.kind) else {
      return nil
    }
    return String(token.text)
  }

  /// How many rows LIMIT takes so that those up to the place are among them: all of them, -1, where a text is
  /// compared with, which comes behind every number.
  var limit: String {
    if Int(last) != nil { return last }
    return """
      CASE typeof(\(last)) WHEN 'integer' THEN max(\(last), 0) \
      WHEN 'real' THEN max(CAST(\(last) AS INTEGER), 0) WHEN 'null' THEN 0 ELSE -1 END
      """
  }
}
