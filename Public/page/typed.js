/** How the values of a column are shown whose type says more than their kind, and pictures. */

import { element } from "./dom.js";
import { kindOf, sizeText, valueNode, valueText } from "./values.js";

/**
 * @param address of the query, to which the URLs of its columns are relative
 * @param ask fetches what needs a token, which goes in a header that an image cannot send; null: nothing does
 * @param height of pictures, in pixels
 */
export const cellMaker = (address, types = {}, ask = null, height = 24) => (value, column) => {
  const mediaType = types[column]?.blob;
  if (kindOf(value) === "blob") return picture(token(valueText(value)), height, { bytes: value.base64 });
  if (!mediaType || !value?.url) return valueNode(value);
  const size = token(`${mediaType}, ${sizeText(value.bytes)}`);
  const url = `${address}/${value.url}`;
  if (!mediaType.startsWith("image/")) return element("a", { href: url, target: "_blank" }, size);
  return picture(size, height, { url, ask });
};

const token = (text) => element("span", { className: "token" }, text);

/** Says what it is until the picture is there. */
function picture(token, ...what) {
  import("./pictures.js").then(({ show }) => show(token, ...what));
  return token;
}

/** In the words of the configuration. */
export const typesText = (types = {}) =>
  Object.entries(types).map(([column, type]) => `${column} ${type.blob ?? type}`).join(", ");
