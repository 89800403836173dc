import Dispatch
import Foundation
import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

/// Hears all that a controller tells, and keeps a copy of its records by nothing but that.
final class Listener<Record: FetchableRecord & SendableMetatype> {
  struct Section {
    var name: String?
    var records: [Record]
  }

  /// Words for what was called, in order.
  private(set) var calls: [String] = []
  private(set) var changes: [FetchedRecordChange] = []
  private(set) var sectionChanges: [FetchedSectionChange] = []
  private(set) var told: [Record] = []
  private(set) var errors: [any Error] = []
  private(set) var countsAtWillChange: [Int] = []
  private(set) var countsAtDidChange: [Int] = []
  /// nil: no copy is kept.
  fileprivate var sections: [Section]?
  private let semaphore = DispatchSemaphore(value: 0)
  private var changeSetStart = 0
  private var sectionStart = 0

  init() {}

  func track(_ controller: FetchedRecordsController<Record>) {
    controller.trackChanges(
      willChange: { [self] in
        calls.append("willChange")
        countsAtWillChange.append($0.fetchedRecords.count)
        (changeSetStart, sectionStart) = (changes.count, sectionChanges.count)
      },
      onSectionChange: { [self] _, change in
        calls.append("onSectionChange")
        sectionChanges.append(change)
      },
      onChange: { [self] _, record, change in
        calls.append("onChange")
        changes.append(change)
        told.append(record)
      },
      didChange: { [self] in
        calls.append("didChange")
        countsAtDidChange.append($0.fetchedRecords.count)
        replay()
        semaphore.signal()
      })
    controller.trackErrors { [self] _, error in
      errors.append(error)
      semaphore.signal()
    }
  }

  /// Takes the records as they are now as what later changes start from.
  func begin(with controller: FetchedRecordsController<Record>) {
    sections = controller.sections.map { Section(name: $0.name, records: Array($0.records)) }
  }

  func forget() {
    (calls, changes, sectionChanges, told, errors) = ([], [], [], [], [])
    (countsAtWillChange, countsAtDidChange) = ([], [])
  }

  /// Waits for the next `didChange` or error that was not waited for; call it outside the queue.
  func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(
      semaphore.wait(timeout: .now() + 20) == .success, "nothing was told",
      sourceLocation: sourceLocation)
  }

  /// What a list would do with the changes.
  private func replay() {
    guard var sections else { return }
    defer { self.sections = sections }
    var arrivals: [(Foundation.IndexPath, Record)] = []
    var updates: [(Foundation.IndexPath, Record)] = []
    for (change, record) in zip(changes[changeSetStart...], told[changeSetStart...]) {
      switch change {
      case .insertion(let path): arrivals.append((path, record))
      case .deletion(let path): sections[path[0]].records.remove(at: path[1])
      case .move(let path, let newPath, _):
        sections[path[0]].records.remove(at: path[1])
        arrivals.append((newPath, record))
      case .update(let path, _): updates.append((path, record))
      }
    }
    for change in sectionChanges[sectionStart...] {
      switch change {
      case .deletion(let index, let name):
        #expect(sections[index].records.isEmpty && sections[index].name == name)
        sections.remove(at: index)
      case .insertion(let index, let name):
        sections.insert(Section(name: name, records: []), at: index)
      }
    }
    for (path, record) in arrivals.sorted(by: { $0.0 < $1.0 }) {
      sections[path[0]].records.insert(record, at: path[1])
    }
    for (path, record) in updates { sections[path[0]].records[path[1]] = record }
  }
}

extension Listener where Record: Equatable {
  /// Whether the copy is what the controller shows.
  func isInStep(with controller: FetchedRecordsController<Record>) -> Bool {
    guard let sections, controller.sections.count == sections.count else { return false }
    return zip(controller.sections, sections).allSatisfy {
      $0.name == $1.name && Array($0.records) == $1.records
    }
  }
}
