/// A leaf of a segment of an FTS5 index: words, each with the documents that have it.
///
/// The format is told at the head of SQLite's `ext/fts5/fts5_index.c`, "Segment Leaf Page"; numbers are
/// as in SQLite's own records.
struct SearchLeaf {
  private let page: PageImage
  private let hasPositions: Bool
  /// Behind the last entry: there begins the list of where words are.
  private let end: Int

  /// - Parameters:
  ///   - page: the bytes of the leaf.
  ///   - hasPositions: ``SearchIndex/hasPositions``.
  /// - Throws: ``CaptureDoubt/malformedPage``.
  init(_ page: PageImage, hasPositions: Bool) throws(CaptureDoubt) {
    self.page = page
    self.hasPositions = hasPositions
    end = try page.integer16(2)
    guard end >= 4, end <= page.count else { throw .malformedPage }
  }

  /// The rowids of the documents that the leaf names, of those too that it says to have lost a word.
  ///
  /// O(n) for n bytes.
  ///
  /// - Throws: ``CaptureDoubt/malformedPage``.
  func insertDocuments(into documents: inout Set<Int64>) throws(CaptureDoubt) {
    let words = try offsetsOfWords()
    let first = try page.integer16(0)
    // What began on the page before goes on here: its first rowid is written whole.
    if first > 0, first < words.first ?? end {
      try insert(from: first, to: words.first ?? end, &documents)
    }
    for (index, word) in words.enumerated() {
      let next = index + 1 < words.count ? words[index + 1] : end
      var offset = word
      // How much is as in the word before, which the first of a page does not say; and the rest.
      if index > 0 { _ = try page.varint(&offset) }
      let length = try page.varint(&offset)
      guard length <= UInt64(next - min(offset, next)) else { throw .malformedPage }
      try insert(from: offset + Int(length), to: next, &documents)
    }
  }

  private func offsetsOfWords() throws(CaptureDoubt) -> [Int] {
    var words: [Int] = []
    var (offset, word) = (end, 0)
    while offset < page.count {
      let step = try page.varint(&offset)
      guard step > 0, step <= UInt64(end - word) else { throw .malformedPage }
      word += Int(step)
      words.append(word)
    }
    return words
  }

  /// Reads a list of documents: a rowid, and by how much each next one is larger.
  private func insert(
    from start: Int, to end: Int, _ documents: inout Set<Int64>
  ) throws(CaptureDoubt) {
    var offset = start
    var document: UInt64 = 0
    while offset < end {
      document &+= try page.varint(&offset)
      documents.insert(Int64(bitPattern: document))
      if hasPositions {
        // Twice the size of what follows, and whether the document has lost the word.
        let size = try page.varint(&offset) / 2
        // The rest is on the next page.
        guard size < UInt64(end - min(offset, end)) else { return }
        offset += Int(size)
      } else {
        // It has lost the word; and it has it as well.
        for _ in 0..<2 where offset < end {
          guard try page.byte(offset) == 0 else { break }
          offset += 1
        }
      }
    }
  }
}
