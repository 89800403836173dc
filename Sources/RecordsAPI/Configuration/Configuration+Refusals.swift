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
    self.problem(
      in: query, Part(problem.part), near: problem.nearWord, problem.message,
      mend: problem.nearestWord.map { "did you mean \"\($0)\"?" } ?? problem.mendInConfiguration)
  }
}

extension QueryProblem {
  /// What to do about it in a file.
  fileprivate var mendInConfiguration: String {
    switch kind {
    case .unnamedParameter: "write :name instead of ? and declare the name under parameters"
    case .undeclaredParameter: "declare it under parameters, or mend its name"
    case .other: mend
    }
  }

  /// The word that the message is about.
  var nearWord: String? { unknownWord ?? quotedToken }

  /// What would have been right in the place of the unknown word, if that can be guessed.
  var nearestWord: String? {
    unknownWord.flatMap { NearestWord.find($0, among: knownWords) }
  }

  /// The word at which SQLite stopped: `near "FORM": syntax error`.
  fileprivate var quotedToken: String? {
    message.firstMatch(of: #/^near "(.+)":/#).map { String($0.1) }
  }
}

extension Configuration.Part {
  /// The word of the file, or what stands under it, that says a part of a query.
  init(_ part: QueryPart) {
    self =
      switch part {
      case .table: .word(.table)
      case .sql: .word(.sql)
      case .fields: .word(.fields)
      case .field(let index): .item(.fields, index)
      case .predicate: .word(.where)
      case .grouping(let index): .item(.groupBy, index)
      case .having: .word(.having)
      case .ordering(let index): .item(.order, index)
      case .orderingOf(let name, let index): .itemOf(.orders, name, index)
      case .key(let index): .item(.key, index)
      case .section: .word(.section)
      case .sectionIndexTitle: .word(.sectionIndexTitle)
      case .columnType(let name): .entry(.columns, name)
      case .parameter(let name): .entry(.parameters, name)
      case .alongside(let name): .entry(.alongside, name)
      }
  }
}
