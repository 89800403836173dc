import TestSupport
import Testing

/// The rule for whatever happens to the files of a database, at random: within a second the server
/// shows what a new connection shows, or says that it cannot, and a writer can write.
///
/// `FILE_STEPS` is the number of operations, `FILE_SECONDS` how long the server may take for each
/// (more than the one second of the rule unless it is said, for machines that do other things
/// beside), and `DIDCHANGE_SEED` begins with the same ones again.
@Suite(.endToEnd, .serialized) struct `Random file operations` {
  static let steps = RandomSource.number("FILE_STEPS") ?? 120

  @Test func `are followed, or said to be too much, and keep no writer from writing`() throws {
    let run = try RandomFileRun(seed: RandomSource.seed)
    print("random file operations: DIDCHANGE_SEED=\(RandomSource.seed) FILE_STEPS=\(Self.steps)")
    for _ in 0..<Self.steps { try run.step() }
    print("random file operations: \(run.summary)")
    #expect(run.operations == Self.steps)
  }
}
