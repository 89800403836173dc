package import FetchedRecords
import QueryAnalysis

extension Configuration {
  /// The problems that only SQLite could find, each at its place in the file.
  package func problems(_ refused: RefusedQueries) -> ConfigurationProblems {
    ConfigurationProblems(
      refused.queries.flatMap { query in
        query.problems.map { problem(in: query.query, $0) }
      })
  }

  private func problem(in query: String, _ problem: QueryProblem) -> ConfigurationProblem {
    let nearest = problem.unknownWord.flatMap {
      NearestWord.find($0, among: problem.knownWords)
    }
    return self.problem(
      in: query, Part(problem.part), near: problem.unknownWord ?? problem.quotedToken,
      problem.message, mend: nearest.map { "did you mean \"\($0)\"?" } ?? problem.mend)
  }
}

extension QueryProblem {
  /// The word at which SQLite stopped: `near "FORM": syntax error`.
  fileprivate var quotedToken: String? {
    message.firstMatch(of: #/^near "(.+)":/#).map { String($0.1) }
  }
}

extension Configuration.Part {
  /// The part at a path such as `["order", "1"]`; where the path is unknown, the query as a whole.
  init(_ path: [String]) {
    guard let word = path.first.flatMap(QueryWord.init(rawValue:)) else {
      self = .name
      return
    }
    switch (word, path.dropFirst().first) {
    case (_, nil): self = .word(word)
    case (.parameters, let name?), (.alongside, let name?): self = .entry(word, name)
    case (_, let index?): self = Int(index).map { .item(word, $0) } ?? .word(word)
    }
  }
}
