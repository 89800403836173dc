// What Debian has no package of, where Python packages bring it: JavaScript, and a newer Node.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { programNamed } from "./webdriver.mjs";

/** The path of a file in an installed Python package, which is not run; "" where there is none. */
export function fileInPackage(name, file) {
  if (!programNamed("python3")) return "";
  const script = `import importlib.util as u; s = u.find_spec('${name}'); print(s.submodule_search_locations[0] if s else '')`;
  const folder = execFileSync("python3", ["-c", script], { encoding: "utf8" }).trim();
  return folder && join(folder, file);
}
