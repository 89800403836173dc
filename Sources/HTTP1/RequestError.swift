package import HTTPTypes

/// Why a request is refused.
package enum RequestError: Error, Equatable, Hashable, Sendable, CaseIterable {
  // The bytes are not lines of HTTP.
  case bareLineFeed, bareCarriageReturn, controlCharacter
  // The request line.
  case invalidRequestLine, invalidMethod, invalidVersion, unsupportedVersion, methodTooLong
  case targetTooLong, invalidTarget, invalidPercentEncoding, pathLeavesRoot, connectRefused
  // The header section.
  case invalidFieldName, foldedField, whitespaceBeforeColon
  case headTooLarge, tooManyFields
  case missingHost, repeatedHost, invalidHost
  case unsupportedExpectation
  // Framing.
  case invalidContentLength, repeatedContentLength, contentLengthWithTransferEncoding
  case transferEncodingInHTTP10, unknownTransferCoding, chunkedNotLast, invalidTransferEncoding
  case bodyTooLarge
  // The chunked body.
  case invalidChunkSize, invalidChunkExtension, chunkExtensionsTooLarge, missingChunkEnd
  case trailersTooLarge
  // The clock.
  case headTimeout, bodyTimeout
}

extension RequestError {
  /// The status to answer with.
  package var status: HTTPResponse.Status {
    switch self {
    case .unsupportedVersion: .httpVersionNotSupported
    case .methodTooLong, .unknownTransferCoding, .connectRefused: .notImplemented
    case .targetTooLong: .uriTooLong
    case .headTooLarge, .tooManyFields, .trailersTooLarge: .requestHeaderFieldsTooLarge
    case .unsupportedExpectation: .expectationFailed
    case .bodyTooLarge: .contentTooLarge
    case .headTimeout, .bodyTimeout: .requestTimeout
    default: .badRequest
    }
  }
}
