import HTTP1
import HTTPTypes

/// By what a client can tell whether a file is still the one that it has (RFC 9110 §8.8).
struct Validators {
  /// Changes when the file does, also within a second and when it is replaced by an older one.
  let tag: String
  /// Seconds since 1970, and never later than now.
  let modified: Int
  private let now: Int

  /// For so long after a change the file may have changed again within the same second.
  ///
  /// Apache's time too: the clock of a file system need not be ours.
  private static let unsettled = 60

  init(_ file: FileSystem.File, now: Int) {
    let parts = [file.modified, file.modifiedNanoseconds, file.size, Int(file.inode)]
    tag = "\"" + parts.map { String($0, radix: 36) }.joined(separator: "-") + "\""
    // §8.8.2.1: a file's time that is still to come is the time of the answer.
    modified = min(file.modified, now)
    self.now = now
  }

  /// §8.8.2.2: whether the date names one state of the file.
  var isDateStrong: Bool { modified <= now - Self.unsettled }

  /// RFC 9110 §13.1.5: a tag is compared strongly; a date must be the same, and strong.
  func isCurrent(_ condition: String) -> Bool {
    condition == tag || (isDateStrong && Preconditions.seconds(condition) == modified)
  }

  var fields: HTTPFields {
    var fields: HTTPFields = [.eTag: tag, .lastModified: HTTPDate.string(modified)]
    // The loop's date may be a little older than a file that has just been written, and
    // Last-Modified must not be later than Date (§8.8.2.1).
    if !isDateStrong { fields[.date] = HTTPDate.string(now) }
    return fields
  }
}
