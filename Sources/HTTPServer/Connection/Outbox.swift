import HeldMemory

/// What a socket did not take, in order.
struct Outbox {
  enum Piece {
    case bytes([UInt8], sent: Int)
    /// A part of a log: held, not copied.
    case segment(LogSegment, Range<Int>)
  }

  private var pieces: [Piece] = []
  private(set) var count = 0
  /// Of what it holds itself; nil while it is empty.
  private var charge: MemoryCharge?

  var isEmpty: Bool { count == 0 }

  mutating func append(_ bytes: [UInt8], from start: Int = 0) {
    guard start < bytes.count else { return }
    count += bytes.count - start
    pieces.append(.bytes(bytes, sent: start))
    noteHeld()
  }

  mutating func append(_ segment: LogSegment, _ range: Range<Int>) {
    guard !range.isEmpty else { return }
    count += range.count
    pieces.append(.segment(segment, range))
  }

  /// Writes until the socket takes no more, or has taken enough.
  ///
  /// - Parameters:
  ///   - descriptor: The socket.
  ///   - limit: How many bytes are enough.
  /// - Returns: How many bytes went, or nil if the connection is gone.
  mutating func send(to descriptor: Int32, atMost limit: Int) -> Int? {
    var total = 0
    while let piece = pieces.first {
      guard total < limit else { return total }
      switch piece.send(to: descriptor, atMost: limit - total) {
      case .failed: return nil
      case .wouldBlock: return total
      case .bytes(let sent):
        total += sent
        count -= sent
        if let rest = piece.dropping(sent) {
          pieces[0] = rest
        } else {
          pieces.removeFirst()
          noteHeld()
        }
      }
    }
    pieces = []
    charge = nil
    return total
  }

  /// O(pieces), which are few: a peer that reads slowly is asked for no more requests.
  private mutating func noteHeld() {
    let held = pieces.reduce(0) { sum, piece in
      if case .bytes(let bytes, _) = piece { sum + bytes.count } else { sum }
    }
    if let charge { charge.set(held) } else { charge = MemoryCharge(held) }
  }
}

extension Outbox.Piece {
  fileprivate func send(to descriptor: Int32, atMost limit: Int) -> Transfer {
    switch self {
    case .bytes(let bytes, let sent):
      bytes.withUnsafeBytes { all in
        SystemCalls.send(descriptor, UnsafeRawBufferPointer(rebasing: all[sent...].prefix(limit)))
      }
    case .segment(let segment, let range):
      // The segment is held by the piece.
      SystemCalls.send(
        descriptor, UnsafeRawBufferPointer(rebasing: segment.bytes(range).prefix(limit)))
    }
  }

  fileprivate func dropping(_ count: Int) -> Outbox.Piece? {
    switch self {
    case .bytes(let bytes, let sent):
      sent + count < bytes.count ? .bytes(bytes, sent: sent + count) : nil
    case .segment(let segment, let range):
      count < range.count
        ? .segment(segment, range.lowerBound + count..<range.upperBound) : nil
    }
  }
}
