/// How much of a request is read before it is refused, so that a client cannot make the server
/// remember more than this for it.
package struct MessageLimits: Sendable, Equatable {
  /// Bytes of the request target; more is 414.
  ///
  /// Default 8192: RFC 9112 §3 recommends at least 8000.
  package var targetLength = 8192

  /// Bytes of request line and header section with their line ends; more is 431.
  ///
  /// Default 32 KiB, as nginx's four large header buffers of 8 KiB: cookies of a shared domain fit.
  package var headSize = 32 * 1024

  /// Header fields; more is 431.
  ///
  /// Default 100, as Apache: each field costs some 60 bytes of memory beside its text, so the size
  /// alone would not bound it well.
  package var fieldCount = 100

  /// Bytes of the body, which is read over and not kept; more is 413.
  ///
  /// Default 1 MiB, as nginx: no resource wants any.
  package var bodySize = 1024 * 1024

  /// Bytes of all chunk extensions of a message; more is 400.
  ///
  /// Default 1024: nobody sends any, and a body of one-byte chunks with long extensions is work
  /// without end (CVE-2023-39326).
  package var chunkExtensionSize = 1024

  /// Bytes of the trailer section, which is checked and dropped; more is 431.
  ///
  /// Default 4096.
  package var trailerSize = 4096

  package init() {}
}
