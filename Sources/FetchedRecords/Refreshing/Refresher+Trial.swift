import Dispatch
package import OrderedResults
package import QueryAnalysis

extension Refresher {
  /// Runs a query once, as for the first client that asks for it, and keeps nothing of it.
  ///
  /// Whether a query prepares says little: its sections may not come in runs, and its functions may
  /// fail for what is in the rows. O(n) time and memory, n rows of the result, within the limits of
  /// the refresher.
  ///
  /// - Parameters:
  ///   - query: a query of the ``catalog``.
  ///   - arguments: values for its parameters.
  /// - Returns: what came of it, or why nothing did.
  package func trial(_ query: Query, arguments: QueryArguments) -> Result<Results, FetchFailure> {
    access.sync {
      answer { transaction in
        do {
          return try access.statementGuard.run(atMost: limits.statement) {
            let results = try query.fetch(
              comparingWith: .empty(query.layout), arguments: arguments,
              meter: ResultMeter(limits, memory, mayWait: true), in: transaction.db
            ).results
            for statement in query.alongside {
              _ = try transaction.db.value(of: statement.sql, arguments)
            }
            return results
          }
        } catch StatementGuard.Interruption.time {
          throw FetchFailure.tooLong(limits)
        }
      }
    }
  }
}
