/** @param {object} [properties] DOM properties, not attributes */
export function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** A style sheet for what not everybody sees: once it is there. */
export const style = (href) => (document.querySelector(`link[href="${href}"]`) ? null : new Promise((done) => {
  document.head.append(element("link", { rel: "stylesheet", href, onload: done, onerror: done }));
}));

export const byId = (id) => document.getElementById(id);
