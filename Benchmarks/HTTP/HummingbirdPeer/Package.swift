// swift-tools-version: 6.0
import PackageDescription

// A package of its own, so that the product resolves no SwiftNIO.
let package = Package(
  name: "hummingbird-server",
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1")
  ],
  targets: [
    .executableTarget(
      name: "hummingbird-server",
      dependencies: [.product(name: "Hummingbird", package: "hummingbird")])
  ])
