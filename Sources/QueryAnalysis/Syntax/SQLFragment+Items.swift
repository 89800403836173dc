extension SQLFragment {
  private static let functions = ["json_each", "json_tree", "jsonb_each", "jsonb_tree"]

  /// Whether a text takes the items of a parameter that is JSON:
  /// https://www.sqlite.org/json1.html#table_valued_functions_for_parsing_json_json_each_and_json_tree
  package static func listsItems(of parameter: String, in text: String) -> Bool {
    let tokens = SQLTokens.tokens(of: text)
    return tokens.indices.dropLast(2).contains { index in
      functions.contains(tokens[index].name?.lowercased() ?? "") && tokens[index + 1].isSymbol("(")
        && tokens[index + 2].kind == .parameter && tokens[index + 2].text.dropFirst() == parameter
    }
  }
}
