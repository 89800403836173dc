/** Who listens, commits a second, time of a refresh. */

import { byId } from "./dom.js";

/** Milliseconds; a chart shows two minutes. */
const [interval, maximumReadings] = [2000, 60];

function chart(figure) {
  figure.insertAdjacentHTML("afterbegin",
    '<svg viewBox="0 0 59 20" preserveAspectRatio="none" aria-hidden="true"><polyline/></svg>');
  const values = [];
  return (value) => {
    values.push(value);
    if (values.length > maximumReadings) values.shift();
    const top = Math.max(1e-9, ...values);
    const points = values.map((one, index) =>
      `${maximumReadings - values.length + index},${19 - (18 * one) / top}`);
    figure.querySelector("polyline").setAttribute("points", points.join(" "));
    figure.querySelector("b").textContent = value.toLocaleString("en", { maximumSignificantDigits: 3 });
  };
}

/** What it gives reads them at once, and again after a refusal: they may be for operators only. */
export function monitor(ask) {
  const [addRate, addTime] = ["commits", "latency"].map((id) => chart(byId(id)));
  let last = null;
  let isRefused = false;

  async function read() {
    if (document.hidden || isRefused) return;
    const answer = await ask("metrics").catch(() => null);
    isRefused = [401, 403].includes(answer?.status);
    document.querySelector(".charts").hidden = isRefused;
    const text = await answer?.text().catch(() => "") ?? "";
    const now = { time: performance.now(), ...numbersIn(text) };
    const { streams } = now;
    byId("subscribers").textContent =
      streams === undefined ? "" : `${streams} stream${streams === 1 ? "" : "s"}`;
    const refreshes = now.refreshes_total - last?.refreshes_total;
    if (refreshes >= 0) {
      addRate((1000 * refreshes) / (now.time - last.time));
      addTime((1000 * (now.refresh_seconds_total - last.refresh_seconds_total)) / (refreshes || 1));
    }
    last = now;
  }

  setInterval(read, interval);
  read();
  return () => {
    isRefused = false;
    read();
  };
}

/** The plain numbers of Prometheus' text format. */
const numbersIn = (text) =>
  Object.fromEntries([...text.matchAll(/^didchange_(\w+) (\S+)$/gm)]
    .map(([, name, value]) => [name, Number(value)]));
