import TestSupport
import Testing

/// The rule for whoever asks, at random: no list ever holds a record of somebody else, at no moment.
///
/// `CALLERS_STEPS` is the number of transactions, and `DIDCHANGE_SEED` begins with the same ones
/// again; what clients do beside them falls into their midst as it may.
@Suite(.endToEnd, .serialized) struct `Random callers` {
  static let steps = RandomSource.number("CALLERS_STEPS") ?? 150

  @Test func `are shown what a SELECT with their claims shows at that commit`() throws {
    print("random callers: DIDCHANGE_SEED=\(RandomSource.seed) CALLERS_STEPS=\(Self.steps)")
    let run = try RandomCallersRun(seed: RandomSource.seed)
    for _ in 0..<Self.steps { try run.step() }
    try run.settle()
    print("random callers: \(run.summary)")
    // What this test is for has happened.
    #expect(run.counts["a stream ended with 401", default: 0] > 0)
    #expect(run.counts["a version of another caller", default: 0] > 0)
    #expect(run.counts["a ticket", default: 0] > 0)
    #expect(run.counts["a poll with 200", default: 0] > 0)
  }
}
