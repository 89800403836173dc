/**
 * A live list without JavaScript of one's own:
 *
 *     <didchange-list src="v1/queries/players?country=FR">
 *       <template><b data-column="name"></b> <i data-column="score"></i></template>
 *     </didchange-list>
 *
 * A second template with the attribute `section` stands above each section; its `data-column="name"`
 * is the section's name. How a value is written says the property `formats` (type → a function of the
 * value, its column and its record, which gives a text or a node) by the type of its column, which is the
 * slot's `data-type`, or what the property `types` (column → type) has, or else what the value is: `text`,
 * `number`, `boolean`, `json`, `blob`, `null`. The attribute `state` says how the connection is, for CSS. The property
 * `token` is the option of that name; the attribute `withcredentials` sends cookies to another origin.
 * Where `src` gets other parameters or another `order` of its query, rows move as after a commit.
 */

import { FetchedRecordsController } from "../didchange.js";
import { formatter } from "./formats.js";

const homeOf = (src) => src?.split("?")[0];

class ListElement extends HTMLElement {
  static observedAttributes = ["src", "withcredentials"];
  #controller = null;
  #unbind;
  #token;
  #looks = { formats: undefined, types: undefined };

  connectedCallback() {
    // Set before this class was there, they hide the accessors.
    for (const name of ["formats", "types", "token"].filter((name) => Object.hasOwn(this, name))) {
      const value = this[name];
      delete this[name];
      this[name] = value;
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

  get formats() { return this.#looks.formats; }
  set formats(formats) { this.#lookLike({ formats }); }
  get types() { return this.#looks.types; }
  set types(types) { this.#lookLike({ types }); }

  get controller() { return this.#controller; }

  /** All rows anew, on the controller that is there. */
  #lookLike(looks) {
    Object.assign(this.#looks, looks);
    if (!this.#controller) return;
    this.#unbind();
    this.#bind();
  }

  #begin() {
    // The parser calls back before it has read the children.
    queueMicrotask(() => {
      if (!this.isConnected || this.#controller || !this.getAttribute("src")) return;
      this.#controller = new FetchedRecordsController(this.getAttribute("src"),
        { token: this.#token, withCredentials: this.hasAttribute("withcredentials") });
      this.#controller.addEventListener("state", ({ detail }) => this.setAttribute("state", detail));
      this.#bind();
    });
  }

  #bind() {
    const list = this.querySelector("ul") ?? this.appendChild(document.createElement("ul"));
    const format = formatter(this.#looks);
    this.#unbind = this.#controller.bind(list, {
      row: filling(this.querySelector("template:not([section])"), format),
      section: filling(this.querySelector("template[section]"), format),
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
function filling(template, format) {
  return template && ((subject, node) => {
    if (!node) {
      node = document.createElement("li");
      node.append(template.content.cloneNode(true));
    }
    for (const slot of node.querySelectorAll("[data-column]")) {
      const shown = format(subject, slot.dataset.column, slot.dataset.type);
      if (shown instanceof Node) slot.replaceChildren(shown);
      else if (slot.textContent !== shown) slot.textContent = shown;
    }
    return node;
  });
}

customElements.define("didchange-list", ListElement);
