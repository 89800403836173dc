// axe-core (https://github.com/dequelabs/axe-core), as the Python package axe-playwright-python brings it.

import { existsSync, readFileSync } from "node:fs";
import { fileInPackage } from "./wheels.mjs";

const file = process.env.DIDCHANGE_AXE ?? fileInPackage("axe_playwright_python", "axe.min.js");

/** Why there is no axe here; false where there is. */
export const noAxe = existsSync(file) ? false
  : "axe is not installed (pip install --no-deps axe-playwright-python, or DIDCHANGE_AXE=path/to/axe.min.js)";

/** What axe finds in a tab: a line for each kind of element with its rule. */
export async function violationsIn(tab) {
  // The page's policy lets no script of others in; the driver's is not asked.
  await tab.run(`() => { ${readFileSync(file, "utf8")} }`);
  return tab.run(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${help}. ${failureSummary.split("\n").slice(1).join(";")}`));
  });
}
