import ChangeCapture
import FetchedRecords
import Logging
import QueryAnalysis

extension Refresher {
  /// Opens the database of the settings and analyses its queries.
  ///
  /// - Parameters:
  ///   - settings: which database and which queries.
  ///   - logger: is told what an operator should know.
  ///   - counters: count the refreshes.
  /// - Returns: a refresher that does not watch yet.
  /// - Throws: ``ConfigurationProblems`` with the place of every query that does not fit, and
  ///   `FetchFailure` where the database cannot be read.
  static func opening(
    _ settings: LaunchSettings, logger: Logger, counters: RefreshCounters
  ) throws -> Refresher {
    do {
      return try Refresher(
        path: settings.database ?? "", queries: settings.extent, limits: settings.queryLimits,
        versionKey: settings.versionKey
      ) { message in
        if case .refreshed(let query, let kind, let duration) = message {
          counters.note(query, kind, duration)
        } else {
          logger.log(message)
        }
      }
    } catch let refused as RefusedQueries {
      throw settings.configuration?.problems(refused) ?? refused
    } catch let failure as FetchFailure {
      // Whoever starts a server has yet to learn which file it is about, and that nothing goes on.
      let detail =
        failure.kind == .busy
        ? "it is locked by another process: start again when that has let go of it"
        : failure.detail
      throw FetchFailure(kind: failure.kind, detail: "\(settings.database ?? ""): \(detail)")
    }
  }
}

extension Logger {
  fileprivate func log(_ message: RefresherMessage) {
    switch message {
    case .leftOut(let query):
      let reasons = query.problems.map(\.message).joined(separator: "; ")
      warning("\(query.query) is no query: \(reasons)")
    case .opened(let path, let isWAL):
      info("opened \(path) \(isWAL ? "in WAL mode" : Self.rollbackAdvice)")
    case .replaced:
      notice("the database's files are others now, or were written over: reading them anew")
    case .removed:
      warning("the database file is gone: waiting for it")
    case .failed(let failure):
      error("cannot read the database: \(failure.detail)")
    case .cacheNotWritten(let path, let reason):
      warning(
        """
        cannot write the cache \(path): \(reason); the queries go on, but after a restart its \
        clients begin anew
        """)
    case .cacheWrittenAgain:
      notice("the cache can be written again")
    case .refreshed: break
    case .queryFails(let query, let sql, let failure):
      // On one line, as all that is logged.
      let text = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      error("the query \(query) fails: \(failure.detail)", metadata: ["sql": "\(text)"])
    case .explorationFails(let query, let failure):
      debug("\(query) fails: \(failure.detail)")
    case .queryRecovered(let query):
      notice("the query \(query) fails no longer")
    case .recovered:
      notice("the database can be read again")
    }
  }

  private static var rollbackAdvice: String {
    """
    in a rollback-journal mode: readers and writers wait for each other, and after each commit the \
    whole file is read to find out which rows it changed, or the queries run again where the file \
    has more than 65536 pages; PRAGMA journal_mode=WAL in the writer would spare both
    """
  }
}
