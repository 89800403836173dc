package import OrderedResults

/// Which records of a result are asked for.
package struct PageRange: Sendable, Equatable {
  package enum Start: Sendable, Equatable {
    case offset(Int)
    /// Behind another page.
    case after(PageEnd)
  }

  package let start: Start
  /// At least 1.
  package let limit: Int

  package init(_ start: Start, limit: Int) {
    self.start = start
    self.limit = limit
  }

  /// Where it is at a version; nil: the record has to be looked for that it is behind.
  func offsets(at version: ResultsVersion) -> Range<Int>? {
    let first: Int
    switch start {
    case .offset(let offset): first = offset
    case .after(let end) where end.version == version.description || end.key == nil:
      first = max(0, end.offset)
    case .after: return nil
    }
    let (end, isTooLarge) = first.addingReportingOverflow(limit)
    return first..<(isTooLarge ? .max : end)
  }
}

/// Where a page ended.
package struct PageEnd: Sendable, Equatable {
  /// What the result's version was called.
  package let version: String
  /// The number of records up to its end.
  package let offset: Int
  /// Of its last record; nil: it has none.
  package let key: [Value]?

  package init(version: String, offset: Int, key: [Value]?) {
    self.version = version
    self.offset = offset
    self.key = key
  }

  /// So far around its old place a record is looked for first: records come and go a few at a time.
  package static let neighbourhood = 256
}

/// Some records of a result that nobody holds as a whole.
package struct ResultsPage: Sendable {
  package let layout: RecordLayout
  package let records: [Record]
  /// Of the first record, in the whole result.
  package let offset: Int
  /// In the whole result.
  package let numberOfRecords: Int
  /// As that of a ``ResultsSnapshot``; but a result that was read by pages and is live later has
  /// another one then, though it may be the same.
  package let version: ResultsVersion
  package let commit: Int
}

/// What came of the wish for a page.
package enum PageAnswer: Sendable {
  /// `isDear`: reading pages one by one has come to cost what it costs to hold the whole result.
  case page(ResultsPage, isDear: Bool)
  /// The result is small, or is not read in pages: it had better be live.
  case betterLive
}
