/** Pictures: of a URL, with a token or without, or of the bytes of a BLOB. */

import { element } from "./dom.js";

/** How the files begin, in base64, that a browser shows as they are. */
const beginnings = { iVBORw0KGgo: "image/png", "/9j/": "image/jpeg", R0lGOD: "image/gif", UklGR: "image/webp" };
/** Characters of base64: what is larger is no thumbnail. */
const largest = 1_000_000;

/** Puts a picture in the place of what says what it is; where it is none after all, that comes back. */
export function show(token, height, { url, ask, bytes }) {
  const beginning = bytes?.length < largest && Object.keys(beginnings).find((one) => bytes.startsWith(one));
  if (bytes !== undefined && !beginning) return;
  const alt = token.textContent;
  const image = element("img", { alt, title: alt, height, loading: "lazy", onerror: () => image.replaceWith(token) });
  const give = (blob) => {
    image.src = URL.createObjectURL(blob);
    for (const end of ["load", "error"]) image.addEventListener(end, () => URL.revokeObjectURL(image.src), { once: true });
  };
  token.replaceWith(image);
  if (bytes) give(new Blob([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], { type: beginnings[beginning] }));
  else if (!ask) image.src = url;
  else inSight(image, () => ask(url).then((answer) => (answer.ok ? answer.blob() : Promise.reject()))
    .then(give).catch(image.onerror));
}

function inSight(node, act) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    act();
  });
  observer.observe(node);
}
