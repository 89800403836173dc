/** The test of the connection, for people. */

import { ticksIn } from "../didchange/selftest.js";

export async function testConnection(report) {
  report("listening for a second…");
  try {
    const { isHeldBack, lateness } = await ticksIn(await fetch("v1/selftest"));
    report(isHeldBack ? "Something between you and the server buffers: turn its buffering off."
      : `Events come at once, within ${Math.ceil(lateness)} ms of their time.`);
  } catch {
    report("The test stream broke off.");
  }
}
