import QueryAnalysis

extension QueryProblems {
  /// What is wrong with a SELECT, with the line and the column where that stands in it:
  /// `1:8: no such column: nam; did you mean "name"?`
  func placed(in sql: String) -> String {
    let lines = WordPlaces(sql)
    return problems.map { problem in
      let place = problem.nearWord.flatMap { lines.first($0) } ?? .start
      let mend = problem.nearestWord.map { "did you mean \"\($0)\"?" } ?? problem.mendInSelect
      return "\(place.line):\(place.column): \(problem.message); \(mend)".showingControls()
    }.joined(separator: "\n")
  }
}

extension QueryProblem {
  /// What to do about it where there is only the SELECT.
  fileprivate var mendInSelect: String {
    switch kind {
    case .unnamedParameter, .undeclaredParameter:
      "write a value in its place: parameters are declared in a configuration"
    case .other: mend
    }
  }
}
