/**
 * A live list without JavaScript of one's own:
 *
 *     <didchange-list src="v1/queries/players?country=FR">
 *       <template><b data-column="name"></b> <i data-column="score"></i></template>
 *     </didchange-list>
 *
 * A second template with the attribute `section` stands above each section; its `data-column="name"`
 * is the section's name. The attribute `state` says how the connection is, for CSS. The property
 * `token` is the option of that name; the attribute `withcredentials` sends cookies to another origin.
 * Where `src` gets other parameters or another `order` of its query, rows move as after a commit.
 */

import { FetchedRecordsController } from "../didchange.js";

const homeOf = (src) => src?.split("?")[0];

class ListElement extends HTMLElement {
  static observedAttributes = ["src", "withcredentials"];
  #controller = null;
  #unbind;
  #token;

  connectedCallback() {
    // Set before this class was there, it hides the accessor.
    if (Object.hasOwn(this, "token")) {
      this.#token = this.token;
      delete this.token;
    }
    this.#begin();
  }
  disconnectedCallback() { this.#end(); }
  attributeChangedCallback(attribute, last, value) {
    if (!this.#controller) return;
    const isOver = ["signedOut", "forbidden"].includes(this.#controller.state);
    if (attribute === "src" && value && !isOver && homeOf(value) === homeOf(last)) return this.#ask(value);
    this.#end();
    this.#begin();
  }

  get token() { return this.#token; }
  set token(token) {
    this.#token = token;
    this.attributeChangedCallback();
  }

  get controller() { return this.#controller; }

  #begin() {
    // The parser calls back before it has read the children.
    queueMicrotask(() => {
      if (!this.isConnected || this.#controller || !this.getAttribute("src")) return;
      this.#controller = new FetchedRecordsController(this.getAttribute("src"),
        { token: this.#token, withCredentials: this.hasAttribute("withcredentials") });
      this.#controller.addEventListener("state", ({ detail }) => this.setAttribute("state", detail));
      const list = this.querySelector("ul") ?? this.appendChild(document.createElement("ul"));
      this.#unbind = this.#controller.bind(list, {
        row: filling(this.querySelector("template:not([section])")),
        section: filling(this.querySelector("template[section]")),
      });
    });
  }

  #ask(src) {
    const { order, ...parameters } = Object.fromEntries(new URLSearchParams(src.split("?")[1]));
    Object.assign(this.#controller, { parameters, order });
  }

  #end() {
    this.#unbind?.();
    this.#controller?.close();
    this.#controller = null;
  }
}

/** A function that makes or changes the node of a record after a template. */
function filling(template) {
  return template && ((subject, node) => {
    if (!node) {
      node = document.createElement("li");
      node.append(template.content.cloneNode(true));
    }
    for (const slot of node.querySelectorAll("[data-column]")) {
      const text = String(subject[slot.dataset.column] ?? "");
      if (slot.textContent !== text) slot.textContent = text;
    }
    return node;
  });
}

customElements.define("didchange-list", ListElement);
