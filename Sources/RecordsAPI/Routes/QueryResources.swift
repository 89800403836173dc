import Dispatch
import FetchedRecords
import HTTPServer
import JSON
import OrderedResults
import QueryAnalysis

// What queries there are.
extension RecordsService {
  /// `GET /v1/queries`
  func listQueries(_ request: Request, _ responder: Responder) {
    responder.respond(
      Self.answer {
        try QueryItems(request.query).refuseParameters()
        return Self.json { json in
          json.object { json in
            json.array("queries") { json in
              for entry in visible { json.object { $0.summary(of: entry, for: caller) } }
            }
            guard explores(request) else { return }
            json.name("explore")
            json.boolean(true)
          }
        }
      })
  }

  /// `GET /v1/queries/{query}`
  func describeQuery(_ request: Request, _ responder: Responder) {
    // The plan is read from the database, which a connection's loop must not wait for.
    QueryPlan.queue.async { responder.respond(Self.answer { try description(for: request) }) }
  }

  private func description(for request: Request) throws -> Response {
    let entry = try entry(named: request.parameters["query"])
    // Its parameters say nothing of the query but for the order.
    var definition = QueryDefinition(name: "", form: entry.definition.form)
    definition.orders = entry.definition.orders
    let order = try QueryItems(request.query).arguments(for: definition)
    let feeds = registry.feeds(of: entry.definition.name)
    return Self.json { json in
      json.object { json in
        json.summary(of: entry, for: caller)
        // How the server does its work is for operators.
        guard caller?.isOperator != false else { return }
        if let query = try? entry.query(with: order) {
          json.member("sql", query.sql)
          json.member("tracking", query.tracking.mode.rawValue)
          json.member("trackingReason", query.tracking.reason)
          json.array("plan") { json in
            for step in QueryPlan.steps(of: query.sql, database: refresher.path) {
              json.string(step)
            }
          }
          json.array("commits") { json in
            for (tables, cost) in query.commitCosts { json.object { $0.commit(to: tables, cost) } }
          }
        }
        json.refreshes(refresher.statistics.queries[entry.definition.name])
        json.array("controllers") { json in
          for (feed, users) in feeds { json.object { $0.controller(feed, users: users) } }
        }
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func summary(of entry: QueryCatalog.Entry, for caller: Caller?) {
    let definition = entry.definition
    member("name", definition.name)
    member("title", definition.title)
    array("parameters") { json in
      let claims = caller?.gate.access(of: definition.name).claims ?? [:]
      for parameter in definition.parameters where claims[parameter.name] == nil {
        json.object { $0.parameter(parameter) }
      }
    }
    if !definition.orders.isEmpty {
      array("orders") { json in for order in definition.orders { json.string(order.name) } }
    }
    member("section", definition.section)
    switch entry.analysis {
    case .success(let query):
      array("columns") { json in for name in query.layout.columns { json.string(name) } }
      orderedBy(definition.sorting(by: query.layout.columns))
      columnTypes(of: query.layout)
      name("key")
      if query.layout.key == nil {
        null()
      } else {
        array { json in for name in query.layout.keyNames { json.string(name) } }
      }
    case .failure(let problems):
      array("columns") { _ in }
      name("key")
      null()
      let failure = FetchFailure(problems)
      let isHidden = caller?.isOperator == false
      member("problem", isHidden ? Gatekeeper.hiddenDetail : failure.detail)
    }
  }

  /// Column → the orders that sort by it; nothing where there are no orders to choose from.
  private mutating func orderedBy(_ sortings: [ColumnSorting]) {
    if sortings.isEmpty { return }
    name("orderedBy")
    object { json in
      for sorting in sortings {
        json.name(sorting.column)
        json.object { json in
          if let name = sorting.ascending { json.member("ascending", name) }
          if let name = sorting.descending { json.member("descending", name) }
        }
      }
    }
  }

  fileprivate mutating func commit(to tables: [String], _ cost: CommitCost) {
    array("tables") { json in for table in tables { json.string(table) } }
    member("cost", cost.rawValue)
    member("detail", cost.inWords)
  }

  private mutating func parameter(_ parameter: QueryParameter) {
    member("name", parameter.name)
    member("type", parameter.type.rawValue)
    guard let value = parameter.defaultValue else { return }
    member("default", value)
  }

  /// How the query's controllers were brought up to date, and why not row by row where they were
  /// not.
  fileprivate mutating func refreshes(_ counts: QueryRefreshes?) {
    object("refreshes") { json in
      json.member("incremental", counts?.maintained ?? 0)
      json.member("refetch", counts?.refetches ?? 0)
      json.object("fallbacks", counts?.fallbacks.mapValues { .integer(Int64($0)) } ?? [:])
    }
  }

  fileprivate mutating func controller(_ feed: Feed, users: Int) {
    let head = feed.head
    object("parameters", feed.key.arguments)
    member("subscribers", users)
    member("version", head.snapshot.version.description)
    member("commit", head.snapshot.commit)
    member("numberOfRecords", head.snapshot.results.count)
    if let failure = head.failure { member("problem", failure.detail) }
  }
}
