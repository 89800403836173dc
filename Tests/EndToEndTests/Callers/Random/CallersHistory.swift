/// What every caller might see after each of a run's transactions, and whether what one was shown
/// is among it.
struct CallersHistory {
  /// A query as a client asks for it.
  struct Asked: CustomStringConvertible {
    let query: String
    /// The records that are asked for, where it is not all.
    var window: Range<Int>?

    var items: String {
      window.map { "?offset=\($0.lowerBound)&limit=\($0.count)" } ?? ""
    }

    var description: String { query + items }

    /// What there is of it in a state of the whole result.
    func part(of all: JSONValue) -> JSONValue {
      guard let window, case .array(let records) = all else { return all }
      return .array(Array(records.dropFirst(window.lowerBound).prefix(window.count)))
    }
  }

  private var truths: [CallersWriter.Truth] = []
  private(set) var transactions: [String] = []

  /// The number of the last transaction, from 0.
  var last: Int { truths.count - 1 }

  mutating func append(_ sql: String, _ truth: CallersWriter.Truth) {
    transactions.append(sql)
    truths.append(truth)
  }

  /// The records that a caller may see after a transaction, or the status of a refusal.
  func truth(_ caller: String, _ asked: Asked, after index: Int) -> JSONValue {
    asked.part(of: truths[index][caller][asked.query])
  }

  /// Looks after which transaction a caller might have been shown this.
  ///
  /// - Parameters:
  ///   - seen: all records of an answer or of a stream's client, or the status of a refusal.
  ///   - caller: whose it was.
  ///   - asked: what was asked for.
  ///   - first: the server was this far already.
  /// - Returns: the first such transaction.
  /// - Throws: that there was none.
  func place(
    _ seen: JSONValue, _ caller: String, _ asked: Asked, from first: Int
  ) throws -> Int {
    let found = (first...last).filter { truth(caller, asked, after: $0) == seen }
    guard let earliest = found.first else {
      let ever = (0...last).filter { truth(caller, asked, after: $0) == seen }
      throw ContractViolation(
        """
        \(caller) was shown, of \(asked), what no SELECT shows after transactions \(first) to \
        \(last) (it does after \(ever)):
        \(seen)
        after transaction \(last) it shows
        \(truth(caller, asked, after: last))
        """)
    }
    return earliest
  }

  /// Whether a caller might ever have been shown a record.
  func mightHaveSeen(_ record: JSONValue, _ caller: String, _ asked: Asked) -> Bool {
    truths.contains { $0[caller][asked.query].elements.contains(record) }
  }
}
