package import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A short answer when it is over.
typealias WholeAnswer = (head: HTTPURLResponse, body: [UInt8])

extension HTTPSession {
  /// The status of the answer to a GET, whose body nobody waits for, by a session that is for nothing
  /// else.
  ///
  /// - Parameters:
  ///   - url: what is asked for.
  ///   - limit: how long it may take.
  /// - Returns: the status, 200 or another.
  /// - Throws: where nothing answers in time.
  package func status(
    of url: URL, within limit: Duration
  ) async throws(RemoteRecordsError) -> Int {
    defer { close() }
    let exchange = get(url, [:])
    // Nothing comes before a head.
    exchange.watch(for: limit)
    var pieces = exchange.pieces.makeAsyncIterator()
    switch await pieces.next() {
    case .head(let head): return head.statusCode
    case .silence: throw .unreachable(url, URLError(.timedOut))
    case .end(let error?): throw .unreachable(url, error)
    case .end(nil), .bytes, nil: throw .unreachable(url, URLError(.badServerResponse))
    }
  }

  /// The whole of a short answer to a GET, as whoever the tokens say; after a 401 again, if there is
  /// another token.
  ///
  /// - Parameters:
  ///   - url: what is asked for.
  ///   - fields: of the request's header, but who asks.
  ///   - tokens: nil: nobody in particular asks.
  ///   - limit: something has to come within each such time.
  /// - Returns: the answer, whatever its status.
  /// - Throws: `RemoteRecordsError` where there is none, it breaks off, or there is no token;
  ///   `CancellationError`.
  nonisolated(nonsending) func whole(
    _ url: URL, _ fields: [String: String] = [:], tokens: TokenKeeper?, within limit: Duration
  ) async throws -> WholeAnswer {
    var token: String?
    do { token = try await tokens?.get() } catch { throw RemoteRecordsError.token(error) }
    let first = try await whole(url, fields, token, limit)
    guard first.head.statusCode == 401, let tokens else {
      if first.head.statusCode == 200 { await tokens?.proved() }
      return first
    }
    do { token = try await tokens.renew(token) } catch { throw RemoteRecordsError.token(error) }
    return token == nil ? first : try await whole(url, fields, token, limit)
  }

  private nonisolated(nonsending) func whole(
    _ url: URL, _ fields: [String: String], _ token: String?, _ limit: Duration
  ) async throws -> WholeAnswer {
    let exchange = get(url, fields.merging(Self.fields(token)) { $1 })
    defer { exchange.cancel() }
    exchange.watch(for: limit)
    var head: HTTPURLResponse?
    var body: [UInt8] = []
    for await piece in exchange.pieces {
      switch piece {
      case .head(let response): head = response
      case .bytes(let data): body += data
      case .silence: throw RemoteRecordsError.unreachable(url, URLError(.timedOut))
      case .end(let error):
        guard let head, error == nil else {
          throw RemoteRecordsError.unreachable(url, error ?? URLError(.badServerResponse))
        }
        return (head, body)
      }
    }
    throw CancellationError()
  }

  /// The header of whoever asks.
  static func fields(_ token: String?) -> [String: String] {
    token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
  }
}
