// swift-tools-version: 6.0
import PackageDescription

// A package of its own: the product needs no other diff.
let package = Package(
  name: "differencekit-peer",
  dependencies: [.package(url: "https://github.com/ra1028/DifferenceKit", exact: "1.3.0")],
  targets: [
    .executableTarget(
      name: "differencekit-peer",
      dependencies: [.product(name: "DifferenceKit", package: "DifferenceKit")])
  ])
