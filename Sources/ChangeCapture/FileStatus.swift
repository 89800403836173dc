/// Which file stands at a path, whatever its name or content.
///
/// A number may be given to a new file once the old one is gone and closed; while a connection
/// holds the old file open it cannot.
package struct FileIdentity: Sendable, Hashable {
  package var device: UInt64
  package var inode: UInt64
}

/// A file's identity, and the outward signs of its content.
///
/// The signs may prove that something was written. They never prove the opposite: two commits
/// within one tick of the file system's clock leave the same times.
package struct FileStatus: Sendable, Equatable {
  var identity: FileIdentity
  /// Whether it is neither a folder, nor a pipe, nor a device.
  var isRegular = true
  var size: Int64
  /// Nanoseconds since 1970.
  var modified: Int64
  /// Nanoseconds since 1970.
  var changed: Int64
}
