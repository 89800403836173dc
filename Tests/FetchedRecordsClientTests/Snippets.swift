import FetchedRecordsClient
import Foundation

// What the documentation shows, so that it compiles where it can.

private struct Player: Decodable, Identifiable, Sendable {
  var id: Int
  var name: String
  var score: Int?
}

private func follow(_ url: URL) async throws {
  let players = RemoteRecordsController<Player>(url, parameters: ["country": "FR", "least": 3])
  for try await change in players.changeSets { print(change.recordChanges.count) }
  for try await records in players.values { print(records.count) }
}

@MainActor private func ask(_ players: RemoteRecordsController<Player>, _ text: String?) {
  players.parameters = ["text": text]
  players.order = "best"
  players.window = 0..<100
  if let section = players.sections.first { print(section.name ?? "", section.records.count) }
}

#if canImport(SwiftUI)
  import SwiftUI

  private struct PlayerList: View {
    @State private var players: RemoteRecordsController<Player>

    init(_ url: URL) { _players = State(initialValue: RemoteRecordsController(url)) }

    var body: some View {
      List {
        ForEach(players.sections) { section in
          Section(section.name ?? "") {
            ForEach(section.records) { player in Text(player.name) }
          }
        }
      }
      .animation(.default, value: players.fetchedRecords.version)
      .opacity(players.isPending ? 0.6 : 1)
      .overlay {
        if let error = players.error { Text(error.description) }
      }
    }
  }
#endif

#if canImport(UIKit)
  import UIKit

  extension RemoteRecordsChangeSet {
    fileprivate var snapshot: NSDiffableDataSourceSnapshot<RemoteValue, RemoteRecordKey> {
      var snapshot = NSDiffableDataSourceSnapshot<RemoteValue, RemoteRecordKey>()
      snapshot.appendSections(new.sections.map(\.id))
      for section in new.sections {
        snapshot.appendItems(section.keys.compactMap(\.self), toSection: section.id)
      }
      snapshot.reconfigureItems(
        recordChanges.compactMap { change in
          change.oldIndexPath == nil ? nil : change.newIndexPath.flatMap(new.key(at:))
        })
      return snapshot
    }
  }
#endif
