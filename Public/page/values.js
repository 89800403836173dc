/** How one SQLite value is shown. */

import { element } from "./dom.js";

const bytesIn = ({ base64 }) => Math.floor(base64.replace(/=+$/, "").length * 0.75);

export function sizeText(bytes) {
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return bytes < 1000 ? `${bytes} B` : `${size.toFixed(1)} ${unit}`;
}

export function kindOf(value) {
  if (value === null || value === undefined) return "null";
  if (typeof value === "object") return typeof value.base64 === "string" ? "blob" : "json";
  return { string: "text", boolean: "boolean" }[typeof value] ?? "number";
}

export function valueText(value) {
  const kind = kindOf(value);
  if (kind === "null") return "NULL";
  if (kind === "json") return jsonText(value);
  return kind === "blob" ? `blob, ${sizeText(bytesIn(value))}` : String(value);
}

/** What is no text of the data itself looks different from it. */
export function valueNode(value) {
  const isPlain = ["text", "number", "boolean"].includes(kindOf(value)) && value !== "";
  return isPlain ? String(value) : element("span", { className: "token" }, value === "" ? "“”" : valueText(value));
}

/** JSON with index paths on one line and BigInt as digits. */
export function jsonText(data, indent) {
  const quoted = JSON.stringify(
    data, (_, value) => (typeof value === "bigint" ? `\u0000${value}\u0000` : value), indent);
  return quoted.replace(/"\\u0000(-?\d+)\\u0000"/g, "$1")
    .replace(/\[\s+([\d\s,]+?)\s+\]/g, (_, numbers) => `[${numbers.replace(/\s+/g, " ")}]`);
}
