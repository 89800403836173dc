/// An array of numbers that takes half as much while all are as small as most are.
///
/// Memory: 4 bytes a number, or 8 once one does not fit into them; twice as much while it is filled, and behind
/// ``trim()`` a quarter more where it grew.
struct NumberArray {
  /// Stands for no number, and is none of its numbers.
  static let none = Int64.min

  private var narrow: [Int32] = []
  private var wide: [Int64] = []
  private(set) var isWide: Bool
  private var isTrimmed = false

  init(isWide: Bool = false) { self.isWide = isWide }

  /// So many times none.
  init(count: Int, isWide: Bool) {
    self.isWide = isWide
    if isWide {
      wide = .exactly(count, Self.none)
    } else {
      narrow = .exactly(count, .min)
    }
  }

  var count: Int { isWide ? wide.count : narrow.count }

  /// The bytes that it takes.
  var size: Int { 4 * narrow.capacity + 8 * wide.capacity }

  /// O(1), and O(n) for the first number that does not fit.
  subscript(index: Int) -> Int64 {
    get {
      if isWide { return wide[index] }
      let number = narrow[index]
      return number == .min ? Self.none : Int64(number)
    }
    set {
      if !isWide, let number = Self.narrowed(newValue) {
        narrow[index] = number
      } else {
        if !isWide { widen() }
        wide[index] = newValue
      }
    }
  }

  /// Hands over all numbers, each with that at the same place of another array of as many. O(n).
  func forEach(with others: NumberArray, _ body: (Int64, Int64) -> Void) {
    withReader { numbers in
      others.withReader { others in
        for index in 0..<count { body(numbers[index], others[index]) }
      }
    }
  }

  /// O(1), and O(n) where it grows.
  mutating func append(_ number: Int64) {
    if !isWide, let number = Self.narrowed(number) {
      if isTrimmed { narrow.growByQuarter() }
      narrow.append(number)
    } else {
      if !isWide { widen() }
      if isTrimmed { wide.growByQuarter() }
      wide.append(number)
    }
  }

  /// Gives back what is free. O(n).
  mutating func trim() {
    narrow = narrow.trimmed
    wide = wide.trimmed
    isTrimmed = true
  }

  private func withReader(_ body: (Reader) -> Void) {
    narrow.withUnsafeBufferPointer { narrow in
      wide.withUnsafeBufferPointer { wide in
        body(Reader(narrow: narrow, wide: wide, isWide: isWide))
      }
    }
  }

  /// Reads many numbers without holding on to the array for each.
  private struct Reader {
    let narrow: UnsafeBufferPointer<Int32>
    let wide: UnsafeBufferPointer<Int64>
    let isWide: Bool

    subscript(index: Int) -> Int64 {
      if isWide { return wide[index] }
      let number = narrow[index]
      return number == .min ? none : Int64(number)
    }
  }

  /// nil: it does not fit.
  private static func narrowed(_ number: Int64) -> Int32? {
    if number == none { return .min }
    let narrowed = Int32(truncatingIfNeeded: number)
    return Int64(narrowed) == number && narrowed != .min ? narrowed : nil
  }

  private mutating func widen() {
    wide = narrow.map { $0 == .min ? Self.none : Int64($0) }
    narrow = []
    isWide = true
  }
}

extension Array {
  /// An array of one element that takes no more than it has to.
  fileprivate static func exactly(_ count: Int, _ element: Element) -> Self {
    Array(unsafeUninitializedCapacity: count) { buffer, initialized in
      buffer.initialize(repeating: element)
      initialized = count
    }
  }

  /// The same with little room for more.
  fileprivate var trimmed: Self {
    // To note that nothing was initialised is to write to what all empty arrays share.
    if isEmpty { return [] }
    return Array(unsafeUninitializedCapacity: count) { buffer, initialized in
      _ = buffer.initialize(from: self)
      initialized = count
    }
  }

  /// Makes room for another element where there is none: for a quarter more, and not twice as much.
  fileprivate mutating func growByQuarter() {
    if count == capacity { reserveCapacity(count + count / 4 + 16) }
  }
}
