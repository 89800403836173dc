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
      times.append(try time(body))
    }
    return times.median ?? 0
  }

  /// Compares two pieces of work that take turns, so that what else the machine does meets both.
  ///
  /// - Parameters:
  ///   - runs: how often.
  ///   - prepare: happens before each pair and does not count.
  ///   - work: what is compared.
  ///   - peer: with what.
  /// - Returns: the medians in milliseconds, and that of the quotients.
  static func medians(
    runs: Int, prepare: () throws -> Void, _ work: () throws -> Void, peer: () throws -> Void
  ) rethrows -> (work: Double, peer: Double, ratio: Double) {
    var times: [(work: Double, peer: Double)] = []
    for _ in 0..<runs {
      try prepare()
      times.append((try time(work), try time(peer)))
    }
    return (
      times.map(\.work).median ?? 0, times.map(\.peer).median ?? 0,
      times.map { $0.work / $0.peer }.median ?? 0
    )
  }

  /// Milliseconds.
  private static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start).milliseconds
  }
}

extension Measure {
  /// User and system time of a process so far, in milliseconds: man 5 proc.
  static func cpuTime(of process: Int32) -> Double {
    let directory = "/proc/\(process)/task"
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return tasks.reduce(0) { sum, task in
      let text =
        (try? String(contentsOfFile: "\(directory)/\(task)/schedstat", encoding: .utf8)) ?? ""
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e6
    }
  }

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

extension [Double] {
  /// nil where there are none.
  var median: Double? { isEmpty ? nil : sorted()[count / 2] }
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
  rows.forEach(printRow)
}

/// One more row of a table, at once, also where the output goes to a file.
func printRow(_ row: [String]) {
  print("| " + row.joined(separator: " | ") + " |")
  fflush(nil)
}
