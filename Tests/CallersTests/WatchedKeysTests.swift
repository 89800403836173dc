import Callers
import Crypto
import Foundation
import Locks
import TestSupport
import Testing

/// A key file, who watches it, and what was reported.
private final class Watch: Sendable {
  let folder: TemporaryFolder
  let path: String
  let keys: WatchedKeys
  private let events: EventList

  init(_ set: String) throws {
    folder = try TemporaryFolder()
    path = try folder.write(set, to: "jwks.json")
    let events = EventList()
    self.events = events
    keys = try WatchedKeys(
      source: .file(path: path), settings: TokenSettings(algorithms: [.es256])
    ) { event in events.list.withLock { $0.append(event) } }
  }

  func refusal(of token: String, at time: UnixSeconds) -> TokenError.Reason? {
    do {
      _ = try keys.verify(token, now: time)
      return nil
    } catch {
      return error.reason
    }
  }

  func takeEvents() -> [WatchedKeys.Event] {
    events.list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}

private final class EventList: Sendable {
  let list = Mutex<[WatchedKeys.Event]>([])
}

/// The clock of files is the system's.
private var fileTime: UnixSeconds { Date().timeIntervalSince1970 }

private let oldKey = P256.Signing.PrivateKey()
private let newKey = P256.Signing.PrivateKey()
private let oldSet = TestKeys.set([TestKeys.es256JWK(oldKey)])
private let newSet = TestKeys.set([TestKeys.es256JWK(newKey)])

@Test func `other keys are in force a second after they were written, and the old ones are not`()
  throws
{
  let watch = try Watch(oldSet)
  let (old, new) = (try TestKeys.es256(oldKey).token(), try TestKeys.es256(newKey).token())
  let start = fileTime
  #expect(watch.refusal(of: old, at: start) == nil)
  #expect(watch.refusal(of: new, at: start) == .signature)
  try watch.folder.write(newSet, to: "jwks.json")
  // Not looked at again within a second: the old token is still remembered.
  #expect(watch.refusal(of: old, at: start + 0.9) == nil)
  #expect(watch.keys.generation == 0)
  #expect(watch.refusal(of: old, at: start + 1) == .signature)
  #expect(watch.refusal(of: new, at: start + 1) == nil)
  #expect(watch.keys.generation == 1)
  #expect(watch.takeEvents() == [.reloaded(keys: 1, unused: [])])
}

@Test func `a file that is written again with the same keys changes nothing`() throws {
  let watch = try Watch(oldSet)
  let start = fileTime
  let token = try TestKeys.es256(oldKey).token()
  for second in 1...5 {
    try watch.folder.write(oldSet, to: "jwks.json")
    #expect(watch.refusal(of: token, at: start + Double(second)) == nil)
  }
  #expect(watch.keys.generation == 0)
  #expect(watch.takeEvents().isEmpty)
}

@Test func `keys of the same size that were written in the same tick of the clock are seen`() throws
{
  let watch = try Watch(oldSet)
  let start = fileTime
  let new = try TestKeys.es256(newKey).token()
  #expect(oldSet.utf8.count == newSet.utf8.count)
  #expect(watch.refusal(of: new, at: start) == .signature)
  let handle = try #require(FileHandle(forWritingAtPath: watch.path))
  try handle.write(contentsOf: Data(newSet.utf8))
  try handle.close()
  #expect(watch.refusal(of: new, at: start + 1) == nil)
}

@Test(arguments: ["{", "", #"{"keys":{}}"#])
func `a broken file keeps the keys, and is told once`(broken: String) throws {
  let watch = try Watch(oldSet)
  let start = fileTime
  let token = try TestKeys.es256(oldKey).token()
  try watch.folder.write(broken, to: "jwks.json")
  for second in 1...5 { #expect(watch.refusal(of: token, at: start + Double(second)) == nil) }
  let events = watch.takeEvents()
  #expect(events.count == 1)
  guard case .failed(let message) = events.first else { return #expect(Bool(false), "\(events)") }
  #expect(message.hasPrefix(watch.path + ": "))
  #expect(watch.keys.generation == 0)
  try watch.folder.write(newSet, to: "jwks.json")
  #expect(watch.refusal(of: token, at: start + 6) == .signature)
  #expect(watch.takeEvents() == [.reloaded(keys: 1, unused: [])])
}

/// Taking keys out is urgent where one was stolen, and never waits for the others.
@Test(arguments: ["", #"{"kty":"EC","crv":"P-256","x":"","y":""}"#])
func `keys that are taken out let in nobody, whatever is left`(rest: String) throws {
  let watch = try Watch(TestKeys.set([TestKeys.es256JWK(oldKey), TestKeys.es256JWK(newKey)]))
  let start = fileTime
  let token = try TestKeys.es256(oldKey).token()
  let key = try watch.keys.verify(token, now: start).identity.signingKey
  try watch.folder.write(#"{"keys":[\#(rest)]}"#, to: "jwks.json")
  #expect(watch.refusal(of: token, at: start + 1) == .key)
  #expect(!watch.keys.isInForce(try #require(key), now: start + 1))
  let events = watch.takeEvents()
  guard case .reloaded(keys: 0, let unused) = events.first else {
    return #expect(Bool(false), "\(events)")
  }
  #expect(unused.isEmpty == rest.isEmpty)
  try watch.folder.write(newSet, to: "jwks.json")
  #expect(watch.refusal(of: try TestKeys.es256(newKey).token(), at: start + 2) == nil)
}

@Test func `a file that goes away and comes back is told of each time`() throws {
  let watch = try Watch(oldSet)
  let start = fileTime
  let token = try TestKeys.es256(oldKey).token()
  for round in 0..<2 {
    try FileManager.default.removeItem(atPath: watch.path)
    let time = start + Double(round * 4)
    #expect(watch.refusal(of: token, at: time + 1) == nil)
    #expect(watch.refusal(of: token, at: time + 2) == nil)
    #expect(
      watch.takeEvents() == [.failed("\(watch.path) cannot be read: No such file or directory")])
    try watch.folder.write(oldSet, to: "jwks.json")
    #expect(watch.refusal(of: token, at: time + 3) == nil)
    #expect(watch.takeEvents() == [.reloaded(keys: 1, unused: [])])
  }
  #expect(watch.keys.generation == 0)
}

@Test func `a FIFO in the file's place holds nobody up`() throws {
  let watch = try Watch(oldSet)
  let token = try TestKeys.es256(oldKey).token()
  try FileManager.default.removeItem(atPath: watch.path)
  try #require(mkfifo(watch.path, 0o600) == 0)
  #expect(watch.refusal(of: token, at: fileTime + 1) == nil)
  #expect(watch.takeEvents() == [.failed("\(watch.path) is not a regular file")])
}

@Test func `a clock that is set back does not put the next look off`() throws {
  let watch = try Watch(oldSet)
  let new = try TestKeys.es256(newKey).token()
  #expect(watch.refusal(of: new, at: fileTime + 1_000_000) == .signature)
  try watch.folder.write(newSet, to: "jwks.json")
  #expect(watch.refusal(of: new, at: fileTime) == nil)
}

@Test func `keys change under many threads, and no token is good under others`() throws {
  let watch = try Watch(oldSet)
  let (old, new) = (try TestKeys.es256(oldKey).token(), try TestKeys.es256(newKey).token())
  let start = fileTime
  let step = Atomic<Int>(0)
  DispatchQueue.concurrentPerform(iterations: 4) { thread in
    for _ in 0..<50 {
      let second = step.add(1, ordering: .relaxed).newValue
      if thread == 0 {
        _ = try? watch.folder.write(second % 2 == 0 ? oldSet : newSet, to: "jwks.json")
      }
      _ = watch.refusal(of: second % 3 == 0 ? old : new, at: start + Double(second))
    }
  }
  try watch.folder.write(newSet, to: "jwks.json")
  #expect(watch.refusal(of: old, at: start + 1000) == .signature)
  #expect(watch.refusal(of: new, at: start + 1000) == nil)
}

@Test func `keys that cannot be read stop the start`() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write("{}", to: "jwks.json")
  let settings = TokenSettings(algorithms: [.es256])
  let error = #expect(throws: KeyProblem.self) {
    try WatchedKeys(source: .file(path: path), settings: settings) { _ in }
  }
  #expect(error?.message == "\(path): the key set has no array named keys (RFC 7517 §5)")
}

@Test func `a secret is read once`() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write(TestKeys.secret, to: "secret")
  let keys = try WatchedKeys(
    source: .secret(.file(path: path)), settings: TokenSettings(algorithms: [.hs256])
  ) { _ in }
  try folder.write("another", to: "secret")
  let token = try TestKeys.hmac().token(#"{"exp":1000}"#)
  #expect(try keys.verify(token, now: 999).identity.name == "?")
  #expect(throws: TokenError.self) { try keys.verify(token, now: 1030) }
}
