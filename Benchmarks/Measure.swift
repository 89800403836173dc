import Foundation

/// Runs work again and again, and takes the median.
enum Measure {
  /// Takes the median of several runs.
  ///
  /// - Parameters:
  ///   - runs: how often.
  ///   - prepare: happens before each run and does not count.
  ///   - body: what counts.
  /// - Returns: milliseconds.
  static func median(
    runs: Int, prepare: () throws -> Void = {}, _ body: () throws -> Void
  ) rethrows -> Double {
    var times: [Double] = []
    for _ in 0..<runs {
      try prepare()
      let start = ContinuousClock.now
      try body()
      times.append((ContinuousClock.now - start).milliseconds)
    }
    return times.sorted()[runs / 2]
  }
}

extension Measure {
  /// Resident memory of a process, in megabytes.
  static func residentMemory(of process: String = "self") -> Double {
    let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * 4096 / 1e6
  }
}

extension Duration {
  var milliseconds: Double {
    Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
  }
}

extension Double {
  /// Three significant digits or so.
  var short: String {
    let digits = self >= 100 ? 1.0 : self >= 10 ? 10.0 : self >= 1 ? 100.0 : 1000.0
    return "\((self * digits).rounded() / digits)"
  }
}

/// A table in Markdown.
func printTable(_ header: [String], _ rows: [[String]]) {
  print("| " + header.joined(separator: " | ") + " |")
  print("|" + header.map { _ in "---|" }.joined())
  for row in rows { print("| " + row.joined(separator: " | ") + " |") }
}
