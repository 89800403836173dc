// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Scoreboard",
  platforms: [.macOS(.v14), .iOS(.v17)],
  dependencies: [
    // Elsewhere: .package(url: "…/didchange", from: "…", traits: [])
    .package(name: "didchange", path: "../..", traits: [])
  ],
  targets: [
    .executableTarget(
      name: "Scoreboard",
      dependencies: [.product(name: "FetchedRecordsClient", package: "didchange")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
