/// What a ``ChangeReader`` has done since it was made.
package struct CaptureStatistics: Sendable, Equatable {
  /// Calls of `changes(in:)`.
  package var looks = 0
  /// Looks that found commits.
  package var commits = 0
  /// Frames of the log that were new to a look.
  package var framesRead = 0
  /// Looks that found the log begun anew.
  package var logRestarts = 0
  /// Leaves of followed tables whose rows were compared.
  package var pagesDiffed = 0
  /// Rows on them.
  package var cellsDiffed = 0
  /// Rowids that were reported.
  package var rowsReported = 0
  /// Tables that were reported whole, by the word of ``TableChanges/Reason``, and looks that
  /// reported everything: `firstLook`, `noFile`, `unknownFormat`, `unknownLog`, `unreadablePage`,
  /// `malformedPage`, `snapshotUnknown`, `ownTransaction`, `otherLayout`, `tooLargeToScan`.
  package var fallbacks: [String: Int] = [:]
  /// How many frames the log was ahead of the reader when it last looked.
  package var lag = 0

  package init() {}

  mutating func count(_ reason: String) { fallbacks[reason, default: 0] += 1 }
}
