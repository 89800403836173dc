/// Looks whether an item of a list is one whole SQL term.
///
/// YAML cuts `[coalesce(a, b), c]` at every comma, and SQLite would complain about each piece in
/// terms of a statement that the user did not write.
enum SQLTerm {
  static func flaw(_ text: String) -> (message: String, mend: String)? {
    var depth = 0
    var commas = false
    var closing: Character?
    for character in text {
      if let quote = closing {
        if character == quote { closing = nil }
        continue
      }
      switch character {
      case "'", "\"", "`": closing = character
      case "[": closing = "]"
      case "(": depth += 1
      case ")": depth -= 1
      case "," where depth == 0: commas = true
      default: break
      }
      if depth < 0 { break }
    }
    if depth != 0 || closing != nil {
      return (
        "is cut in two: its \(closing == nil ? "parentheses" : "quotes") do not match",
        "put an item that contains a comma in quotes"
      )
    }
    return commas ? ("is more than one term", "write each term as an item of its own") : nil
  }
}
