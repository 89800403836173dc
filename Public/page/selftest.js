/** Whether anything on the way here keeps bytes back: ticks that were sent apart come apart. */
export function testConnection(report) {
  report("listening for a second…");
  const late = [];
  let first;
  const stream = new EventSource("v1/selftest");
  stream.addEventListener("tick", ({ data }) => {
    const { number, of, after } = JSON.parse(data);
    first ??= performance.now();
    late.push(performance.now() - first - after);
    if (number < of) return;
    stream.close();
    // Held until the last was sent, they come together.
    report(late.at(-1) < -after / 2
      ? "Something between you and the server buffers: turn its buffering off."
      : `Events come at once, within ${Math.ceil(Math.max(1, ...late.map(Math.abs)))} ms of their time.`);
  });
  stream.onerror = () => {
    stream.close();
    report("The test stream broke off.");
  };
}
