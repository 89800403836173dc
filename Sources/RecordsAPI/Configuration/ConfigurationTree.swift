import Foundation
import Yams

/// A configuration file as a tree of nodes with their marks.
///
/// Yams stops at the first mapping that has a key twice, and so would hide all other problems
/// behind it. Here the earlier of the two keys is overwritten in the text with a placeholder of the
/// same length, so that every mark stays true, and the text is parsed again.
struct ConfigurationTree {
  /// nil: the file says nothing.
  let root: Node?
  /// The names of the keys that were overwritten.
  private(set) var duplicates: [String: String] = [:]

  /// How often a text is parsed again at most, and how many scalars are read so in all: a script
  /// that writes one name a thousand times has said enough, and each time costs O(n).
  private static let mostRounds = 32
  private static let mostScalars = 2_000_000

  /// O(n) time and memory, n scalars of the text; times the keys that are there twice, up to a limit.
  init(text: String, file: String) throws(ConfigurationProblem) {
    var scalars = Array(text.unicodeScalars)
    let rounds = max(1, min(Self.mostRounds, Self.mostScalars / max(1, scalars.count)))
    while true {
      do {
        root = try Yams.compose(yaml: String(String.UnicodeScalarView(scalars)), .basic)
        return
      } catch YamlError.duplicatedKeysInMapping(let names, let context) {
        let mark = TextPosition(line: context.mark.line, column: context.mark.column)
        let name = names.first ?? ""
        guard duplicates.count + names.count <= rounds else {
          throw ConfigurationProblem(
            file: file, position: mark,
            message: "too many names are there twice, such as \"\(name)\"",
            mend: "keep one of each")
        }
        let placeholder = Self.placeholder(number: duplicates.count, for: name)
        guard Self.replace(name, at: mark, with: placeholder, in: &scalars) else {
          throw ConfigurationProblem(
            file: file, position: mark, message: "\"\(name)\" is there twice",
            mend: "keep one of the two")
        }
        duplicates[placeholder] = name
      } catch {
        throw Self.problem(error, text: text, file: file)
      }
    }
  }

  /// The pairs of a mapping with the names of their keys; nil: the key is no text.
  func entries(_ mapping: Node.Mapping) -> [(name: String?, key: Node, value: Node)] {
    mapping.map { key, value in
      let name = key.scalar?.string
      return (name.map { duplicates[$0] ?? $0 }, key, value)
    }
  }

  /// Scalars of the last private plane: nobody writes them, and YAML allows them in plain keys.
  private static func placeholder(number: Int, for name: String) -> String {
    let first = UInt32(0x10_0000 + number % 0xFFFE)
    var scalars = name.unicodeScalars.map { _ in "\u{F0000}" as Unicode.Scalar }
    if !scalars.isEmpty { scalars[0] = Unicode.Scalar(first) ?? "\u{10FFFD}" }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Returns false where the name does not stand as it is at the mark: it is empty, or written with
  /// escapes.
  private static func replace(
    _ name: String, at mark: TextPosition, with placeholder: String,
    in scalars: inout [Unicode.Scalar]
  ) -> Bool {
    var position = TextPosition.start
    guard
      var start = scalars.firstIndex(where: { scalar in
        defer { position.pass(scalar) }
        return position == mark
      })
    else { return false }
    if scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
    let end = start + name.unicodeScalars.count
    guard end > start, end <= scalars.count, scalars[start..<end].elementsEqual(name.unicodeScalars)
    else { return false }
    scalars.replaceSubrange(start..<end, with: placeholder.unicodeScalars)
    return true
  }
}

extension ConfigurationTree {
  private static func problem(
    _ error: any Error, text: String, file: String
  ) -> ConfigurationProblem {
    let (position, message) = place(error, text: text)
    return ConfigurationProblem(
      file: file, position: position, message: "this is not YAML: \(message)",
      mend: mend(message, text: text, position: position))
  }

  private static func place(_ error: any Error, text: String) -> (TextPosition, String) {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      // libYAML names a function of its own behind a comma.
      let isDeep = problem.hasPrefix("Maximum nesting level reached")
      return (
        TextPosition(line: mark.line, column: mark.column),
        isDeep ? "it is nested too deeply" : problem
      )
    case .reader(let problem, let offset?, let value, _):
      var position = TextPosition.start
      String(text.prefix(offset)).unicodeScalars.forEach { position.pass($0) }
      return (position, "\(problem) (U+\(String(value, radix: 16, uppercase: true)))")
    default:
      return (.start, "\(error)")
    }
  }

  /// What libYAML's commonest complaints come from in practice.
  private static func mend(_ message: String, text: String, position: TextPosition) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let line = lines.indices.contains(position.line - 1) ? lines[position.line - 1] : ""
    if line.prefix(while: \.isWhitespace).contains("\t") { return "indent with spaces, not tabs" }
    switch message {
    case "mapping values are not allowed in this context":
      return "check the indentation, or put a value that contains \": \" in quotes"
    case "found character that cannot start any token":
      return "put a value that begins with @, ` or % in quotes"
    case "could not find expected ':'", "did not find expected key":
      return "check the indentation and the quotes here and on the line before"
    case "but found another document":
      return "take out the line \"---\" and what follows it"
    default: return nil
    }
  }
}
