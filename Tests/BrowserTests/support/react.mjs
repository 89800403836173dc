// React as Debian has it (node-react-dom), for pages without a build.

import { cpSync, existsSync } from "node:fs";

const files = ["react", "react-dom"].map((name) => `/usr/share/nodejs/${name}/umd/${name}.development.js`);

/** Why there is no React here; false where there is. */
export const noReact = files.every((file) => existsSync(file)) ? false : "React is not installed (Debian: node-react-dom)";

/** Puts React beside a page. */
export function copyReact(folder) {
  for (const file of files) cpSync(file, `${folder}/${file.split("/").pop()}`);
}

/** What a page's head needs so that `import … from "react"` is React, and `ReactDOM` there. */
export const reactHead = `
<script src="react.development.js"></script><script src="react-dom.development.js"></script>
<script type="importmap">{"imports": {"react": "./react-module.js"}}</script>`;

export const reactModule = "export const { useEffect, useMemo, useRef, useSyncExternalStore } = globalThis.React;";
