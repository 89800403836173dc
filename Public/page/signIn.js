/** The field for a token, where the server asks for one. */

import { element } from "./dom.js";

export function showSignIn(form, signIn) {
  const input = element("input", {
    type: "password", name: "token", required: true, autocomplete: "off",
    // What a header can carry.
    pattern: "\\s*[!-~]+\\s*", title: "Letters, digits and signs, without blanks",
  });
  form.replaceChildren(
    element("label", {}, element("span", {}, "Token"), input), element("button", {}, "Sign in"),
    element("span", { className: "type" }, "Kept for this tab only, until it is closed."));
  form.hidden = false;
  form.onsubmit = (event) => {
    event.preventDefault();
    form.hidden = true;
    signIn(input.value.trim());
  };
  input.focus();
}
