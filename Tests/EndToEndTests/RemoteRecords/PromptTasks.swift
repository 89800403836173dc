import Testing

/// Begins a test once tasks get their turn at once.
///
/// The Swift client works in tasks, which share one thread for each processor with all quick tests.
/// Those are all queued when a run begins, and each step of the client would wait behind the lot: on
/// a loaded machine for longer than any test is patient.
struct PromptTasks: SuiteTrait, TestTrait, TestScoping {
  /// How long a task waits for its turn at most.
  private static let delay: Duration = .milliseconds(50)
  private static let tries = 1000

  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> PromptTasks? {
    testCase == nil ? nil : self
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    for _ in 0..<Self.tries {
      let took = await ContinuousClock().measure { await Task.detached {}.value }
      if took < Self.delay { break }
    }
    try await function()
  }
}

extension Trait where Self == PromptTasks {
  static var promptTasks: PromptTasks { PromptTasks() }
}
