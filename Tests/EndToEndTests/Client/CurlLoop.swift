import CCurl
import Foundation
import Locks

/// One thread that moves the bytes of any number of transfers, through libcurl's multi interface.
final class CurlLoop: Sendable {
  static let shared = CurlLoop()

  /// A transfer, touched on the loop's thread only.
  struct Transfer {
    let handle: CurlHandle
    let onEnd: (CURLcode) -> Void
  }

  // Touched on the loop's thread only, except for the wake-up, which is allowed from any.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer
  private let work = Mutex<[@Sendable (inout [UnsafeMutableRawPointer: Transfer]) -> Void]>([])

  private init() {
    guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory") }
    self.multi = multi
    Thread.detachNewThread { self.run() }
  }

  /// Begins a transfer that `make` makes on the loop's thread.
  func add(_ make: @escaping @Sendable () -> Transfer?) {
    perform { [multi = UInt(bitPattern: multi)] transfers in
      guard let transfer = make() else { return }
      transfers[transfer.handle.pointer] = transfer
      curl_multi_add_handle(UnsafeMutableRawPointer(bitPattern: multi), transfer.handle.pointer)
    }
  }

  /// Ends the transfer that `isIt` recognises, and closes its connection.
  func remove(where isIt: @escaping @Sendable (CurlHandle) -> Bool) {
    perform { [multi = UInt(bitPattern: multi)] transfers in
      for (pointer, transfer) in transfers where isIt(transfer.handle) {
        curl_multi_remove_handle(UnsafeMutableRawPointer(bitPattern: multi), pointer)
        transfers[pointer] = nil
      }
    }
  }

  /// Runs `body` with the handle of each transfer.
  func forEach(_ body: @escaping @Sendable (CurlHandle) -> Void) {
    perform { transfers in
      for transfer in transfers.values { body(transfer.handle) }
    }
  }

  private func perform(
    _ body: @escaping @Sendable (inout [UnsafeMutableRawPointer: Transfer]) -> Void
  ) {
    work.withLock { $0.append(body) }
    curl_multi_wakeup(multi)
  }

  private func run() {
    var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    while true {
      let pending = work.withLock { work in
        defer { work = [] }
        return work
      }
      for body in pending { body(&transfers) }
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      finish(&transfers)
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
  }

  private func finish(_ transfers: inout [UnsafeMutableRawPointer: Transfer]) {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left)?.pointee {
      guard message.msg == CURLMSG_DONE, let pointer = message.easy_handle else { continue }
      curl_multi_remove_handle(multi, pointer)
      transfers.removeValue(forKey: pointer)?.onEnd(message.data.result)
    }
  }
}
