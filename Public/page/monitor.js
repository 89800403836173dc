/** Who listens, commits a second, time of a refresh. */

import { byId } from "./dom.js";

/** Milliseconds; a chart shows two minutes. */
const [interval, maximumReadings] = [2000, 60];

function chart(figure) {
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

export function monitor() {
  const [addRate, addTime] = ["commits", "latency"].map((id) => chart(byId(id)));
  let last = null;

  async function read() {
    if (document.hidden) return;
    const text = await fetch("metrics").then((response) => response.text(), () => "");
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
}

/** The plain numbers of Prometheus' text format. */
export const numbersIn = (text) =>
  Object.fromEntries([...text.matchAll(/^didchange_(\w+) (\S+)$/gm)]
    .map(([, name, value]) => [name, Number(value)]));
