/** @param {object} [properties] DOM properties, not attributes */
export function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

export const byId = (id) => document.getElementById(id);
