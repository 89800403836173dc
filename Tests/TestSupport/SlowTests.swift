package import Testing

extension Trait where Self == ConditionTrait {
  /// For what takes a processor for seconds, some ten without optimisation, or waits as long: `DIDCHANGE_QUICK=1`, which
  /// `Scripts/test` sets without `--long`, leaves it out.
  package static var slow: Self {
    .disabled(if: RandomSource.number("DIDCHANGE_QUICK") != nil, "it is slow")
  }
}
