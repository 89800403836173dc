import GRDB
import Testing

@testable import ChangeCapture

@Suite struct PendingNewsTests {
  private let error = DatabaseAccessError(
    path: "x", code: .SQLITE_NOTADB, message: "",
    surroundings: .init(directory: "/", isDirectoryWritable: true, fileExists: true))

  /// The event after the changes, and that after taking it.
  private func events(_ changes: (inout PendingNews) -> Void) -> WatchEvent? {
    var news = PendingNews()
    changes(&news)
    let event = news.take()
    #expect(news.event == nil, "taken")
    return event
  }

  @Test func `nothing is no event`() {
    #expect(events { _ in } == nil)
  }

  @Test func `many commits are one`() {
    let event = events {
      $0.committed()
      $0.committed()
    }
    #expect(event == .committed)
  }

  @Test func `a lock is news unless something was committed`() {
    #expect(events { $0.locked() } == .locked)
    let event = events {
      $0.committed()
      $0.locked()
    }
    #expect(event == .committed)
  }

  @Test func `a replacement is more than a commit, a loss more than both`() {
    let replaced = events {
      $0.committed()
      $0.opened()
      $0.committed()
    }
    #expect(replaced == .replaced)
    let removed = events {
      $0.opened()
      $0.committed()
      $0.removed()
    }
    #expect(removed == .removed)
  }

  @Test func `a file that was away between two events has been replaced`() {
    let event = events {
      $0.removed()
      $0.opened()
    }
    #expect(event == .replaced)
  }

  @Test func `a loss is told once, and so is the return`() {
    var news = PendingNews()
    news.removed()
    #expect(news.take() == .removed)
    news.removed()
    #expect(news.take() == nil)
    news.unreadable(error)
    #expect(news.take() == .unreadable(error))
    news.unreadable(error)
    #expect(news.take() == nil)
    news.opened()
    news.committed()
    #expect(news.take() == .restored)
    #expect(news.take() == nil)
  }
}
