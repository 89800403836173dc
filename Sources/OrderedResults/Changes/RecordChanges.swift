/// The record changes of a change set, in the order of `protocol.md` §4.
///
/// A diff writes down two offsets for each change, 8 bytes; the ``RecordChange`` with its index
/// paths and records is made when it is asked for. So changes hold both results, which share what
/// did not change: encode them and let them go rather than keeping them.
package struct RecordChanges: RandomAccessCollection, Sendable {
  private let storage: Storage

  fileprivate enum Storage {
    case changes([RecordChange])
    case offsets(ChangeOffsets)
  }

  package init(_ changes: [RecordChange]) { storage = .changes(changes) }

  init(_ offsets: ChangeOffsets) { storage = .offsets(offsets) }

  /// The offsets, where the changes are written down as such.
  var offsets: ChangeOffsets? { if case .offsets(let offsets) = storage { offsets } else { nil } }

  package var startIndex: Int { 0 }

  package var endIndex: Int {
    switch storage {
    case .changes(let changes): changes.count
    case .offsets(let offsets): offsets.count
    }
  }

  /// A change.
  ///
  /// O(log n + log s), n records in s sections.
  package subscript(position: Int) -> RecordChange {
    switch storage {
    case .changes(let changes): return changes[position]
    case .offsets(let offsets):
      var sections = offsets.sections
      return offsets.change(position, &sections)
    }
  }

  package func makeIterator() -> Iterator { Iterator(storage) }

  /// Walks the changes; O(1) for the index path of most, which are in the section of the last one
  /// or beside it.
  package struct Iterator: IteratorProtocol {
    private let storage: Storage
    private var sections: ChangeOffsets.Sections
    private var position = 0

    fileprivate init(_ storage: Storage) {
      self.storage = storage
      sections = if case .offsets(let offsets) = storage { offsets.sections } else { .none }
    }

    package mutating func next() -> RecordChange? {
      defer { position += 1 }
      switch storage {
      case .changes(let changes):
        return position < changes.count ? changes[position] : nil
      case .offsets(let offsets):
        return position < offsets.count ? offsets.change(position, &sections) : nil
      }
    }
  }
}

extension RecordChanges: ExpressibleByArrayLiteral {
  package init(arrayLiteral changes: RecordChange...) { self.init(changes) }
}

extension RecordChanges: Equatable {
  package static func == (left: RecordChanges, right: RecordChanges) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}
