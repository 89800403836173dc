/** How the values of a column are shown whose type says more than their kind. */

import { element } from "./dom.js";
import { sizeText, valueNode } from "./values.js";

/** @param address of the query, to which the URLs of its columns are relative */
export const cellMaker = (address, types = {}) => (value, column) => {
  const mediaType = types[column]?.blob;
  if (!mediaType || !value?.url) return valueNode(value);
  const size = element("span", { className: "token" }, `${mediaType}, ${sizeText(value.bytes)}`);
  const url = `${address}/${value.url}`;
  if (!mediaType.startsWith("image/")) return element("a", { href: url, target: "_blank" }, size);
  // A token goes in a header, which an image cannot send.
  return element("img",
    { src: url, alt: size.textContent, title: size.textContent, height: 24, loading: "lazy",
      onerror: ({ target }) => target.replaceWith(size) });
};

/** In the words of the configuration. */
export const typesText = (types = {}) =>
  Object.entries(types).map(([column, type]) => `${column} ${type.blob ?? type}`).join(", ");
