extension Connection {
  /// Bodies above this are sent from where they are instead of being copied behind their head.
  private static let largeBody = 2 * 1024
  /// A turn hands a socket so many bytes of a large body at most, which takes some 0.1 ms: a fast reader
  /// of megabytes does not hold the loop.
  private static let bytesOfTurn = 256 * 1024

  /// Bytes that are not on their way yet.
  private var unsent: Int { outbox.count + (isInTurn ? loop.scratch.count : 0) }

  /// Collects bytes, which are sent at the end of the turn, or after those that wait.
  func write(_ append: (inout [UInt8]) -> Void) {
    if isBlocked {
      var bytes: [UInt8] = []
      append(&bytes)
      outbox.append(bytes)
    } else {
      append(&loop.scratch)
    }
    noteSent(progress: false)
  }

  func write(_ bytes: [UInt8]) {
    if bytes.count <= Self.largeBody { return write { $0 += bytes } }
    if isBlocked {
      outbox.append(bytes)
      return noteSent(progress: false)
    }
    sendBehindScratch(bytes)
  }

  /// Sends what was collected and a body behind it in one write.
  private func sendBehindScratch(_ body: [UInt8]) {
    let head = loop.scratch.count
    let transfer = loop.scratch.withUnsafeMutableBytes { head in
      body.withUnsafeBytes { body in
        SystemCalls.send(descriptor, pieces: 2) { index in
          // Only read; iovec has no other pointer.
          index == 0
            ? head
            : UnsafeMutableRawBufferPointer(
              mutating: UnsafeRawBufferPointer(rebasing: body.prefix(Self.bytesOfTurn)))
        }
      }
    }
    var sent = 0
    switch transfer {
    case .failed: return machine.failed()
    case .wouldBlock: break
    case .bytes(let count): sent = count
    }
    noteBytes(sent)
    if sent < head { outbox.append(Array(loop.scratch[sent...])) }
    outbox.append(body, from: max(0, sent - head))
    loop.scratch.removeAll(keepingCapacity: loop.scratch.capacity <= 1 << 20)
    isBlocked = !outbox.isEmpty
    noteSent(progress: sent > 0)
  }

  /// Sends what was collected.
  ///
  /// Returns whether there was anything.
  @discardableResult
  func flush() -> Bool {
    guard !isClosed, !loop.scratch.isEmpty else { return false }
    let count = loop.scratch.count
    switch loop.scratch.withUnsafeBytes({ SystemCalls.send(descriptor, $0) }) {
    case .failed: machine.failed()
    case .wouldBlock:
      outbox.append(loop.scratch)
      isBlocked = true
    case .bytes(let sent):
      noteBytes(sent)
      if sent < count {
        outbox.append(Array(loop.scratch[sent...]))
        isBlocked = true
      }
    }
    loop.scratch.removeAll(keepingCapacity: loop.scratch.capacity <= 1 << 20)
    noteSent(progress: !isBlocked)
    return true
  }

  /// Sends what waits; where the socket still has room after a turn's share, EPOLLOUT comes at once.
  func sendOutbox() {
    guard let sent = outbox.send(to: descriptor, atMost: Self.bytesOfTurn) else {
      return machine.failed()
    }
    noteBytes(sent)
    isBlocked = !outbox.isEmpty
    noteSent(progress: sent > 0)
  }

  func becameWritable() {
    isBlocked = false
    sendOutbox()
    if !isBlocked { advanceBody() }
  }

  func noteSent(progress: Bool) {
    machine.sent(progress: progress, unsent: unsent, isBlocked: isBlocked, at: loop.now)
  }

  func noteBytes(_ count: Int) {
    if count > 0 { loop.counters.update { $0.bytesSent += count } }
  }
}

// MARK: - Bodies that are made as the socket drains

extension Connection {
  func advanceBody() {
    switch body {
    case .none: break
    case .file(let file, let sent): sendFile(file, from: sent)
    case .stream(let stream): advance(stream)
    }
  }

  /// Reads a piece of the file and sends it, until the socket takes no more.
  ///
  /// A turn sends at most 1 MiB, so that one fast reader of a large file does not hold the loop.
  private func sendFile(_ file: FileBody, from start: Int) {
    flush()
    var sent = start
    while sent < file.length, !isBlocked, sent - start < 1 << 20 {
      let wanted = min(loop.readBuffer.count, file.length - sent)
      let piece = UnsafeMutableRawBufferPointer(rebasing: loop.readBuffer[..<wanted])
      let count = SystemCalls.read(file.descriptor, into: piece, at: file.offset + sent)
      // The file has shrunk: the promised length cannot be kept.
      guard count > 0 else { return machine.failed() }
      switch SystemCalls.send(
        descriptor, UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
      {
      case .failed: return machine.failed()
      case .wouldBlock: isBlocked = true
      case .bytes(let taken):
        noteBytes(taken)
        sent += taken
        isBlocked = taken < count
      }
    }
    noteSent(progress: sent > start)
    if sent == file.length {
      body = .none
      responseWritten(bytes: file.length)
    } else {
      body = .file(file, sent: sent)
      // Where the socket still has room, EPOLLOUT comes at once.
      isBlocked = true
      noteSent(progress: sent > start)
    }
  }
}
