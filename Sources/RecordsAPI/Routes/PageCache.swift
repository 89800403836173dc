import FetchedRecords
import HTTPServer
import HeldMemory
import HTTPTypes
import Locks

/// Answers as they were last made, so that one that is asked for again and again is written once
/// for each version of its result.
///
/// Keyed by the target as it was sent: what one means never changes while the server runs, so that
/// an answer is right for as long as its feed shows the same version.
final class PageCache: Sendable {
  /// Bytes of all bodies: a thousand pages of 16 KiB.
  static let capacity = 16 << 20
  /// A body above this costs more to send than to make.
  private static let largest = 256 << 10

  fileprivate final class Entry: Sendable {
    let feed: Feed
    let version: ResultsVersion
    let response: Response
    let size: Int

    init(_ response: Response, size: Int, feed: Feed, version: ResultsVersion) {
      self.feed = feed
      self.version = version
      self.size = size
      self.response = response
    }
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var bytes = 0
  }

  private let state = Mutex(State())
  private let charge = MemoryCharge()

  /// The answer, if it is known and its result is still the same.
  ///
  /// O(length of the target).
  func response(to request: Request) -> Response? {
    guard let entry = state.withLock({ $0.entries[request.target] }) else { return nil }
    guard entry.feed.isShowing(entry.version) else {
      forget(request.target)
      return nil
    }
    return entry.response
  }

  /// Remembers an answer that was made, whose body is bytes.
  func remember(
    _ response: Response, of feed: Feed, version: ResultsVersion, for request: Request
  ) {
    guard case .bytes(let body) = response.body else { return }
    let entry = Entry(response, size: body.count, feed: feed, version: version)
    if body.count <= Self.largest {
      state.withLock { state in
        // Whatever is asked for often is soon there again.
        if state.bytes + entry.cost(request.target) > Self.capacity { state = State() }
        state.bytes += entry.cost(request.target)
        if let old = state.entries.updateValue(entry, forKey: request.target) {
          state.bytes -= old.cost(request.target)
        }
        charge.set(state.bytes)
      }
    }
  }

  /// Bytes held.
  var size: Int { state.withLock { $0.bytes } }

  /// Lets go of the answers of feeds that nobody uses any more.
  func sweep() {
    let entries = state.withLock { $0.entries }
    for (target, entry) in entries where !entry.feed.isShowing(entry.version, isUse: false) {
      forget(target)
    }
  }

  /// Returns whether there was any.
  func removeAll() -> Bool {
    state.withLock { state in
      defer { state = State() }
      charge.set(0)
      return !state.entries.isEmpty
    }
  }

  private func forget(_ target: String) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: target) else { return }
      state.bytes -= entry.cost(target)
      charge.set(state.bytes)
    }
  }
}

extension PageCache.Entry {
  /// Bytes of it and of its target, and about those of the objects around them.
  fileprivate func cost(_ target: String) -> Int { size + target.utf8.count + 500 }
}
