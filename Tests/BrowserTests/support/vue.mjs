// Vue 3 for pages without a build, as NiceGUI brings it.

import { cpSync, existsSync } from "node:fs";
import { fileInPackage } from "./wheels.mjs";

const file = fileInPackage("nicegui", "static/vue.esm-browser.prod.js");

/** Why there is no Vue here; false where there is. */
export const noVue = existsSync(file) ? false : "Vue is not installed (pip install --no-deps nicegui)";

/** Puts Vue beside a page. */
export const copyVue = (folder) => cpSync(file, `${folder}/vue.js`);

/** What a page's head needs so that `import … from "vue"` is Vue. */
export const vueHead = `<script type="importmap">{"imports": {"vue": "./vue.js"}}</script>`;
