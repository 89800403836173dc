#if canImport(Darwin)
  /// A value that threads read and write each at once.
  ///
  /// Under a lock: whatever order is asked for, all threads see all that is done to such values in one.
  package struct Atomic<Value: AtomicRepresentable>: ~Copyable, Sendable {
    private let value: Mutex<Value>

    package init(_ initialValue: consuming Value) { value = Mutex(initialValue) }

    package borrowing func load(ordering: AtomicOrdering) -> Value { value.withLock { $0 } }

    package borrowing func store(_ desired: consuming Value, ordering: AtomicOrdering) {
      value.withLock { [desired] in $0 = desired }
    }

    /// - Returns: what it was before.
    @discardableResult
    package borrowing func exchange(_ desired: consuming Value, ordering: AtomicOrdering) -> Value {
      value.withLock { [desired] value in
        defer { value = desired }
        return value
      }
    }
  }

  extension Atomic where Value: Equatable {
    /// Writes it if it is what is expected.
    @discardableResult
    package borrowing func compareExchange(
      expected: consuming Value, desired: consuming Value, ordering: AtomicOrdering
    ) -> (exchanged: Bool, original: Value) {
      value.withLock { [expected, desired] value in
        let original = value
        if original == expected { value = desired }
        return (original == expected, original)
      }
    }
  }

  extension Atomic where Value: FixedWidthInteger {
    @discardableResult
    package borrowing func wrappingAdd(
      _ operand: Value, ordering: AtomicOrdering
    ) -> (oldValue: Value, newValue: Value) {
      value.withLock { value in
        let old = value
        value &+= operand
        return (old, value)
      }
    }

    @discardableResult
    package borrowing func wrappingSubtract(
      _ operand: Value, ordering: AtomicOrdering
    ) -> (oldValue: Value, newValue: Value) {
      wrappingAdd(0 &- operand, ordering: ordering)
    }
  }

  /// What a value may be of.
  package typealias AtomicRepresentable = Sendable

  /// What other threads must have seen of this one; a lock gives the most of it.
  package enum AtomicOrdering: Sendable {
    case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent
  }
#endif
