import Algorithms

/// Pairs of numbers, which are found by the first as well as by the second of both.
///
/// Memory: 32 to 64 bytes a pair.
struct PairedNumbers {
  private var forwards = SortedPairs()
  /// The same pairs, the second number first.
  private var backwards = SortedPairs()
  private(set) var count = 0

  /// About the bytes that it takes.
  var size: Int { forwards.size + backwards.size }

  /// Adds a pair; returns whether it was not there. O(log n), n pairs.
  mutating func insert(_ first: Int64, _ second: Int64) -> Bool {
    guard forwards.insert(.init(first: first, second: second)) else { return false }
    _ = backwards.insert(.init(first: second, second: first))
    count += 1
    return true
  }

  /// Removes the pairs of a first number, and returns their second ones. O(m log n), m of n pairs.
  mutating func take(_ first: Int64) -> [Int64] {
    let seconds = seconds(of: first)
    for second in seconds {
      forwards.remove(.init(first: first, second: second))
      backwards.remove(.init(first: second, second: first))
    }
    count -= seconds.count
    return seconds
  }

  /// In their order. O(log n + m), m of n pairs.
  func seconds(of first: Int64) -> [Int64] { forwards.seconds(of: first) }

  /// In their order. O(log n + m), m of n pairs.
  func firsts(of second: Int64) -> [Int64] { backwards.seconds(of: second) }
}

/// Pairs of numbers in their order, in runs of a few hundred.
private struct SortedPairs {
  struct Pair: Comparable {
    let first: Int64
    let second: Int64

    static func < (left: Pair, right: Pair) -> Bool {
      left.first == right.first ? left.second < right.second : left.first < right.first
    }
  }

  /// None of them is empty.
  private var runs: [[Pair]] = []

  /// How many pairs a run may have: as many are moved in memory to make room for one.
  private static let most = 256

  var size: Int {
    runs.reduce(0) { $0 + $1.capacity * MemoryLayout<Pair>.stride + 32 } + 8 * runs.capacity
  }

  /// Adds a pair; returns whether it was not there.
  mutating func insert(_ pair: Pair) -> Bool {
    let run = run(of: pair)
    if run == runs.count {
      // Behind all: runs of what comes in its order are full.
      if run > 0, runs[run - 1].count < Self.most {
        runs[run - 1].append(pair)
      } else {
        runs.append([pair])
      }
      return true
    }
    let place = runs[run].partitioningIndex { $0 >= pair }
    if runs[run][place] == pair { return false }
    runs[run].insert(pair, at: place)
    if runs[run].count > Self.most {
      let half = Self.most / 2
      runs.insert(Array(runs[run][half...]), at: run + 1)
      runs[run] = Array(runs[run][..<half])
    }
    return true
  }

  mutating func remove(_ pair: Pair) {
    let run = run(of: pair)
    guard run < runs.count else { return }
    let place = runs[run].partitioningIndex { $0 >= pair }
    guard runs[run][place] == pair else { return }
    runs[run].remove(at: place)
    if runs[run].isEmpty { runs.remove(at: run) }
  }

  func seconds(of first: Int64) -> [Int64] {
    let least = Pair(first: first, second: .min)
    var found: [Int64] = []
    for run in runs[run(of: least)...] {
      let start = found.isEmpty ? run.partitioningIndex { $0 >= least } : 0
      for pair in run[start...] {
        if pair.first != first { return found }
        found.append(pair.second)
      }
    }
    return found
  }

  /// The first run that does not end before a pair.
  private func run(of pair: Pair) -> Int {
    runs.partitioningIndex { $0[$0.count - 1] >= pair }
  }
}
