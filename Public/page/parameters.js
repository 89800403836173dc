/** The form for a query's parameters and its order. */

import { element } from "./dom.js";
import { writeRoute } from "./route.js";
import { valueText } from "./values.js";

/** The names of parameters that must be given and are not. */
export function missingParameters(declared, given) {
  return declared.filter((parameter) => isRequired(parameter) && !given[parameter.name])
    .map(({ name }) => name);
}

/** A default of null is one: NULL. */
const isRequired = (parameter) => parameter.default === undefined;

/**
 * Makes the form of another query, or shows other values in the same, so that focus is not lost.
 * @returns the names of parameters that must be given and are not
 */
export function showForm(form, { name, parameters, orders = [] }, given) {
  form.hidden = !parameters.length && !orders.length;
  if (form.dataset.query !== name) {
    form.replaceChildren(...parameters.map(field), ...orders.length ? [choiceOf(orders)] : []);
  }
  form.dataset.query = name;
  const shown = { ...given, order: given.order === orders[0] ? "" : given.order };
  for (const input of form.elements) input.value = shown[input.name] ?? "";
  const choose = () =>
    (location.hash = writeRoute({ query: name, parameters: filledIn(form) }));
  form.onsubmit = (event) => {
    event.preventDefault();
    choose();
  };
  form.onchange = () => form.checkValidity() && choose();
  return missingParameters(parameters, given);
}

function field(parameter) {
  const input = element("input", {
    name: parameter.name, required: isRequired(parameter), autocomplete: "off", spellcheck: false,
    placeholder: isRequired(parameter) ? "" : valueText(parameter.default),
    inputMode: inputModes[parameter.type] ?? "text",
  });
  const type = element("span", { className: "type" }, parameter.type);
  return element("label", {}, element("span", {}, parameter.name, " ", type), input);
}

/** The first order is that of an address without one. */
function choiceOf(orders) {
  const options = orders.map((order, index) => new Option(order, index ? order : ""));
  return element("label", {}, element("span", {}, "order"), element("select", { name: "order" }, ...options));
}

/** Not type=number, which cuts an integer beyond 2^53 short; the server says what is wrong. */
const inputModes = { integer: "numeric", real: "decimal" };

const filledIn = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
