// The SDKs are installed outside this folder, under INTEROP_MODULES.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.env.INTEROP_MODULES;

export const load = createRequire(join(root, "package.json"));

export const versionOf = (name) =>
  JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"))).version;
