import Testing

@testable import ChangeCapture

@Suite struct `Files that are opened again and again` {
  private let start = ContinuousClock.now

  private func delays(_ seconds: [Int], _ database: (Int) -> FileStatus?) -> [Duration] {
    var reopenings = Reopenings()
    return seconds.enumerated().map { index, time in
      reopenings.delay(for: database(index), at: start + .seconds(time))
    }
  }

  private func file(modified: Int64) -> FileStatus? {
    guard var file = FileStatus(path: "/") else { return nil }
    file.modified = modified
    return file
  }

  @Test func `wait longer each time where nothing but the log is another`() {
    let delays = delays(Array(0..<9)) { _ in file(modified: 1) }
    #expect(delays == [0, 0, 0, 0, 250, 500, 1000, 2000, 2000].map { .milliseconds($0) })
  }

  @Test func `wait a moment where the database is another each time`() {
    let delays = delays(Array(0..<9)) { file(modified: Int64($0)) }
    #expect(delays == [0, 0, 0, 0, 250, 250, 250, 250, 250].map { .milliseconds($0) })
  }

  @Test func `wait no more after some quiet seconds`() {
    #expect(delays([0, 1, 2, 3, 4, 9, 10]) { _ in nil }.last == .zero)
  }
}
