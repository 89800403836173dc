import ChangeCapture
import GRDB
import QueryAnalysis

// Another schema: what it concerns is analysed and read anew, and all else goes on by rows.
extension Refresher {
  /// Learns which queries the change to the schema that `db` sees now concerns, and puts off what is live of
  /// these: each is analysed in a turn of its own.
  func learnSchema(_ changes: DatabaseChanges, in db: Database) throws {
    let known = schemaNumber == nil ? nil : schemaObjects
    // Whatever fails from here on, it is looked at again, even where another file counts alike.
    (schemaNumber, schemaObjects) = (nil, nil)
    db.clearSchemaCache()
    let objects = try SchemaObjects(in: db)
    let change = SchemaChange(from: known, to: objects)
    try catalog.analyze(in: db, after: change)
    planOutlines()
    let concerned = results(concernedBy: change)
    for result in concerned { leaveFollowedRows(of: result) }
    let remaining = concerned.filter(live.contains)
    live.rebind(remaining, in: db)
    for result in remaining {
      result.mustRefetch = "schema"
      // No reader can begin it yet.
      if result.bound == nil { line.remove(result) }
      postpone(result, changes)
    }
    schemaObjects = objects
  }

  /// Those of queries that a change of the schema concerns, or that cannot be read, those that ask the schema
  /// themselves, and those that are made of rows of such queries.
  private func results(concernedBy change: SchemaChange) -> [LiveResult] {
    var verdicts: [ObjectIdentifier: Bool] = [:]
    var found: [ObjectIdentifier: LiveResult] = [:]
    for result in live.all {
      guard result.listener.goesByWords, result.failure == nil,
        let query = try? result.bound?.get().query
      else {
        found[ObjectIdentifier(result)] = result
        continue
      }
      let isConcerned = verdicts[ObjectIdentifier(query)] ?? change.concerns(query)
      verdicts[ObjectIdentifier(query)] = isConcerned
      if isConcerned { found[ObjectIdentifier(result)] = result }
    }
    while true {
      let users = live.all.filter { user in
        found[ObjectIdentifier(user)] == nil
          && user.followed.values.joined().contains { rows in
            rows.live.map { found[ObjectIdentifier($0)] != nil } == true
          }
      }
      if users.isEmpty { return Array(found.values) }
      for user in users { found[ObjectIdentifier(user)] = user }
    }
  }
}
