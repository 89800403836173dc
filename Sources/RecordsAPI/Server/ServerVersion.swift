import Foundation
import GRDBSQLite

/// What runs.
package enum ServerVersion {
  /// Of the release, https://semver.org.
  package static let number = "0.2.0"

  /// Of the SQLite library that the process has loaded.
  static var sqlite: String { String(cString: sqlite3_libversion()) }
}
