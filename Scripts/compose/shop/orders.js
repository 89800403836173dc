// The lists of orders.html, live. didchange and the shop have one origin here: the cookie of the session
// goes to both by itself, although no script can read it.

import { FetchedRecordsController } from "/live/didchange.js";

const element = (id) => document.getElementById(id);

const orders = new FetchedRecordsController("/live/v1/queries/orders");
orders.bind(element("orders"), { row: ({ item }) => item });
orders.addEventListener("state", () => {
  const isOver = orders.state === "signedOut";
  element("state").value = isOver ? "signed out" : orders.state;
  element("again").hidden = !isOver;
  element("place").hidden = isOver;
});

// Whoever unhides this by hand sees an empty list: the server tells customers nothing here.
if (element("admin").dataset.role === "admin") {
  element("admin").hidden = false;
  const all = new FetchedRecordsController("/live/v1/queries/allOrders");
  all.bind(element("allOrders"), {
    section: ({ name }) => Object.assign(document.createElement("li"), { className: "customer", textContent: name }),
    row: ({ item }) => item,
  });
}

element("place").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (answer.ok) form.reset();
});
