import Foundation
package import FetchedRecords
package import OrderedResults
package import QueryAnalysis

/// What a configuration file says, and where it says it.
///
/// The file is YAML, of which JSON is a part. Every word is checked against the vocabulary of its
/// place, and text is text: a number where text belongs is a problem, not a string. Whether the SQL
/// prepares is for SQLite to say; ``position(of:_:near:)`` then tells where it stands.
package struct Configuration: Sendable {
  /// As the user named the file.
  package let file: String
  /// The database, absolute or relative to the working directory as `file` is.
  ///
  /// In the file a relative path counts from the file's own folder.
  package internal(set) var database: String?
  package internal(set) var listen: ListenAddress?
  package internal(set) var service = ServiceSettings()
  package internal(set) var feeds = FeedSettings()
  package internal(set) var queryLimits = RefresherLimits()
  var memoryPerCaller: Int {
    get { feeds.memoryPerCaller ?? queryLimits.memory / 4 }
    set { feeds.memoryPerCaller = newValue }
  }
  /// What states are named with; servers with the same know each other's.
  package internal(set) var versionKey = DigestKey.standard
  /// The queries in the order of the file.
  ///
  /// Empty: the file declares none, and each table and view is a query of its name.
  package internal(set) var queries: [QueryDefinition] = []
  /// What columns mean of which their query says nothing.
  package internal(set) var columnTypes = ColumnTypes.inferred

  /// nil: everybody may read everything.
  package internal(set) var callers: CallerSettings?
  /// By the names of queries.
  package internal(set) var access: [String: QueryAccess] = [:]

  var lines: [String] = []
  var positions: [Subject: TextPosition] = [:]
  /// Where the names of words and entries and the items of lists begin, in ascending order.
  var boundaries: [TextPosition] = []

  /// A part of a query that has a place in the file.
  package enum Part: Sendable, Hashable {
    case name
    case word(QueryWord)
    /// An item of a list, counted from 0: a field, an ordering term, a key column.
    case item(QueryWord, Int)
    /// An entry of a mapping: a parameter, a statement that runs alongside.
    case entry(QueryWord, String)
    /// An item of the list that an entry is: a term of one of the orders.
    case itemOf(QueryWord, String, Int)
    case parameterDefault(String)
  }

  enum Subject: Sendable, Hashable {
    case file(FileWord)
    case query(String, Part)
  }

  init(file: String) {
    self.file = file
  }

  /// Reads and checks a file: O(n), n bytes of the file.
  package static func read(file: String) throws(ConfigurationProblems) -> Configuration {
    let text: String
    do {
      text = try ConfigurationFile.text(path: file)
    } catch {
      throw ConfigurationProblems([error])
    }
    return try parse(text, file: file)
  }

  /// Checks the text of a file.
  package static func parse(
    _ text: String, file: String
  ) throws(ConfigurationProblems) -> Configuration {
    let text = lineFeeds(text)
    let tree: ConfigurationTree
    do {
      tree = try ConfigurationTree(text: text, file: file)
    } catch {
      throw ConfigurationProblems([error])
    }
    var reader = ConfigurationReader(tree: tree, file: file)
    reader.readFile()
    guard reader.problems.isEmpty else { throw ConfigurationProblems(reader.problems) }
    reader.configuration.boundaries.sort()
    reader.configuration.lines = WordPlaces(text).lines
    return reader.configuration
  }

  /// All line breaks as YAML 1.2 §5.4 normalizes them; a CRLF is one `Character`, and would hide.
  private static func lineFeeds(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var before: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if scalar == "\r" || scalar != "\n" || before != "\r" {
        scalars.append(scalar == "\r" ? "\n" : scalar)
      }
      before = scalar
    }
    return String(scalars)
  }
}
