import OrderedResults

extension String {
  /// This name as an SQL identifier, whatever characters it has: https://www.sqlite.org/lang_keywords.html
  package var quotedIdentifier: String {
    // By scalars: a quotation mark with a combining mark behind it is one Character.
    var quoted = "\""
    for scalar in unicodeScalars {
      if scalar == "\"" { quoted += "\"" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }

  /// This expression in parentheses; a comment at its end must not hide the closing one.
  package var parenthesized: String { contains("--") ? "(\(self)\n)" : "(\(self))" }

  /// Whether SQLite takes both as the same name: it folds ASCII letters and no others.
  package func isSameIdentifier(as other: String) -> Bool {
    utf8.elementsEqual(other.utf8) { $0.foldedASCII == $1.foldedASCII }
  }
}
