import Foundation

/// How long a test waits for something that must happen: far longer than it ever takes, since it is
/// waited for to the end only where the product is wrong.
let patience: TimeInterval = 60

/// How soon a server exits after SIGTERM: within two seconds, as `Benchmarks fairness` shows, and
/// here beside other tests, which take its processors for seconds. What it does not wait for would
/// take ten seconds at least.
///
/// Under a sanitizer everything takes up to ten times as long, and the limit would measure that.
let exitLimit: Duration = isSanitized ? .seconds(20) : .seconds(5)

/// Whether these tests, and so the servers that they start, were built for a sanitizer.
let isSanitized = isLinked("__tsan_init") || isLinked("__asan_init")

private func isLinked(_ symbol: String) -> Bool { dlsym(dlopen(nil, RTLD_NOW), symbol) != nil }

/// Something did not happen in time.
struct TimedOut: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = "timed out: \(description)" }
}

/// Asks again and again until the answer is yes; each question is a request to a real server, so
/// that asking does not keep it from getting there.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
  let deadline = Date(timeIntervalSinceNow: patience)
  while try !condition() {
    guard Date() < deadline else { throw TimedOut(what) }
  }
}
