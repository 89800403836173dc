/// Finds the word that was probably meant.
///
/// For messages only: what is unknown stays an error, nothing is guessed on anyone's behalf.
package enum NearestWord {
  /// The candidate nearest to a word, or nil where none is near enough to be what was meant.
  ///
  /// O(c · w²): c candidates, w letters a word.
  package static func find(_ word: String, among candidates: some Sequence<String>) -> String? {
    ranked(word, among: candidates).first
  }

  /// Bytes of a word at most: the names that people give are shorter, and what is longer was not
  /// typed by one.
  private static let longestWord = 256

  /// The candidates near to a word, the nearest first, equally near ones in their own order.
  package static func ranked(
    _ word: String, among candidates: some Sequence<String>, limit: Int = 3
  ) -> [String] {
    guard word.utf8.count <= longestWord else { return [] }
    let letters = Array(word.lowercased())
    let near = candidates.compactMap { candidate -> (word: String, distance: Int)? in
      let other = Array(candidate.lowercased())
      let tolerance = tolerance(letters.count, other.count)
      // Each letter that one has more is an insertion.
      guard abs(letters.count - other.count) <= tolerance else { return nil }
      let distance = distance(letters, other)
      return distance <= tolerance ? (candidate, distance) : nil
    }
    let order = near.enumerated().sorted {
      ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
    }
    return order.prefix(limit).map(\.element.word)
  }

  /// One slip in three letters: more, and every short word would be near to every other.
  private static func tolerance(_ first: Int, _ second: Int) -> Int {
    max(first, second) < 3 ? 0 : max(1, min(first, second) / 3)
  }

  /// Insertions, deletions, replacements and swaps of neighbours: the optimal string alignment
  /// distance, a row of the table at a time.
  static func distance(_ first: [Character], _ second: [Character]) -> Int {
    guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
    var rowBefore: [Int] = []
    var row = Array(0...second.count)
    for i in 1...first.count {
      var next = [i]
      for j in 1...second.count {
        let replacement = row[j - 1] + (first[i - 1] == second[j - 1] ? 0 : 1)
        var cost = min(replacement, row[j] + 1, next[j - 1] + 1)
        if i > 1, j > 1, first[i - 1] == second[j - 2], first[i - 2] == second[j - 1] {
          cost = min(cost, rowBefore[j - 2] + 1)
        }
        next.append(cost)
      }
      rowBefore = row
      row = next
    }
    return row[second.count]
  }
}
