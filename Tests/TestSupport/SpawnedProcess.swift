package import Foundation
import Locks

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Another program with pipes to its standard streams.
///
/// On `posix_spawn`, because Foundation's `Process` has crashed where a test process starts many
/// programs while hundreds of its descriptors are open.
package final class SpawnedProcess: @unchecked Sendable {
  // Unchecked: `status` is written once before `ended` is signalled, and read only after.
  package let identifier: pid_t
  package let input: FileDescriptor
  package let output: FileDescriptor
  package let errors: FileDescriptor
  private let ended = DispatchSemaphore(value: 0)
  private var status: Int32 = 0

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Starts `program`, a path or a name on the PATH.
  ///
  /// With `joinsErrors`, what it writes to its standard error comes with its output. What is `passed`
  /// is its descriptor 3.
  package init(
    _ program: String, _ arguments: [String] = [], joinsErrors: Bool = false,
    passing passed: Int32? = nil
  ) throws {
    // Writing to a program that has ended is an error and not the end of the tests.
    _ = Self.ignoreBrokenPipes
    Self.starting.lock()
    defer { Self.starting.unlock() }
    let (stdin, stdout, stderr) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, stdin.reading.number, 0)
    posix_spawn_file_actions_adddup2(&actions, stdout.writing.number, 1)
    let errorTarget = joinsErrors ? stdout.writing : stderr.writing
    posix_spawn_file_actions_adddup2(&actions, errorTarget.number, 2)
    if let passed { posix_spawn_file_actions_adddup2(&actions, passed, 3) }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var spawned: pid_t = 0
    Self.markDescriptors()
    let code = posix_spawnp(&spawned, program, &actions, nil, &words, environ)
    guard code == 0 else {
      throw Failure(description: "\(program): \(String(cString: strerror(code)))")
    }
    let identifier = spawned
    self.identifier = identifier
    (input, output, errors) = (stdin.writing, stdout.reading, stderr.reading)
    Thread.detachNewThread { [self] in
      while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
      ended.signal()
    }
  }

  /// The exit code, or the negated number of the signal that ended it; nil after `timeout`.
  package func exitCode(within timeout: TimeInterval) -> Int? {
    guard ended.wait(timeout: .now() + timeout) == .success else { return nil }
    ended.signal()
    let signal = status & 0x7F
    return signal == 0 ? Int(status >> 8 & 0xFF) : -Int(signal)
  }

  package var isRunning: Bool { exitCode(within: 0) == nil }

  package func signal(_ number: Int32) { kill(identifier, number) }

  /// Held from the making of pipes to the start of their program: no other program may inherit an
  /// end before it is marked, or this one's input would never end.
  private static let starting = NSLock()

  private static let ignoreBrokenPipes: Void = systemIgnore(SIGPIPE)

  /// Both ends are closed in every program but the one that they are for.
  private static func pipe() throws -> (reading: FileDescriptor, writing: FileDescriptor) {
    var ends: [Int32] = [0, 0]
    guard systemPipe(&ends) == 0 else {
      throw Failure(description: "no pipe: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (FileDescriptor(ends[0]), FileDescriptor(ends[1]))
  }

  /// Keeps what other tests have open from the program: a connection would stay open when its client
  /// closes it, and all of them would count towards the program's limit. libcurl marks none.
  private static func markDescriptors() {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
    for number in open.compactMap({ Int32($0) }) where number > 2 {
      _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }
  }
}

/// A descriptor that is closed with the last reference to it.
package final class FileDescriptor: Sendable {
  package let number: Int32
  private let isClosed = Atomic(false)

  init(_ number: Int32) { self.number = number }

  deinit { close() }

  /// Closes it; once.
  package func close() {
    if !isClosed.exchange(true, ordering: .relaxed) { _ = systemClose(number) }
  }

  package func write(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(number, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw SpawnedProcess.Failure(description: "write: \(String(cString: strerror(errno)))")
      }
      rest = rest.dropFirst(count)
    }
  }

  /// The bytes that are there; empty at the end; nil if there are none until `deadline`.
  package func read(until deadline: Date) -> [UInt8]? {
    var poller = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    while true {
      let milliseconds = max(0, deadline.timeIntervalSinceNow * 1000)
      let ready = poll(&poller, 1, Int32(milliseconds))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = systemRead(number, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      return Array(buffer[..<max(0, count)])
    }
  }
}

private func systemPipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

private func systemIgnore(_ number: Int32) { signal(number, SIG_IGN) }

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int
{
  read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, buffer, count)
}
