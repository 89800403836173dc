import ArgumentParser

@main
struct Benchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures hot paths against a peer or the physical limit, in one run.",
    discussion: """
      Build with Scripts/build --product Benchmarks, run .build/release/Benchmarks NAME. Times are \
      medians; what counts are the ratios, which a slower machine does not change much.
      """,
    subcommands: [
      Refetch.self, Commit.self, Tracking.self, TrackingMemory.self, Burst.self,
      ManyControllers.self, Diff.self, RecordMemory.self, Scan.self, Fairness.self,
      Controllers.self, Batches.self, HTTP.self, BenchServer.self, ManyCallers.self, Scale.self,
      Windows.self,
    ])
}
