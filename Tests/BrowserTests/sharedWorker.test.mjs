// Pages of many callers share one worker: no list ever holds a record of somebody else, at no moment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noServer } from "./support/server.mjs";
import { Run } from "./support/sharedWorker/run.mjs";
import { noBrowser, without } from "./support/webdriver.mjs";

const noWriter = without("python3");
const seed = Number(process.env.DIDCHANGE_SEED ?? Date.now() % 1e9);
const steps = Number(process.env.CALLERS_STEPS ?? 20);

const skip = noBrowser || noServer || noWriter;

/** A seed begins with the same deeds and transactions again; what the browser does falls in between as it may. */
test("callers of one worker are shown what a SELECT with their claims shows at that commit", { skip }, async (t) => {
  const replay = `DIDCHANGE_SEED=${seed} CALLERS_STEPS=${steps} node --test Tests/BrowserTests/sharedWorker.test.mjs`;
  t.diagnostic(replay);
  const run = new Run(seed);
  t.after(() => run.stop());
  await run.start();
  let step = 0;
  try {
    for (; step < steps; step++) await run.step(step);
    await run.settle();
  } catch (error) {
    throw new Error(`${error.message}\nstep ${step} of: ${replay}\n`
      + `what was done (transactions, and between them what people did):\n${run.lately}`, { cause: error });
  }
  t.diagnostic(Object.entries(run.counts).sort().map(([what, times]) => `${times} × ${what}`).join(", "));
  // What this test is for has happened.
  for (const what of ["signedOut", "forbidden", "cookie switched", "pages with one stream"]) assert.ok(run.counts[what] > 0, what);
});
