// Drives a runtime with every SDK, version and binding and prints one line a
// case: "ok   …", "FAIL …", or "skip …" for what is not to be had.
import { clients as of03 } from "./sdk03.mjs";
import { clients as of1 } from "./sdk1.mjs";

const PATIENCE = 30_000;
const target = {
  base: process.env.INTEROP_URL,
  guarded: process.env.INTEROP_GUARDED_URL, // a runtime that asks for the token
  token: process.env.INTEROP_TOKEN,
  all: Boolean(process.env.INTEROP_ALL), // also what the card does not offer
};
const chosen = process.argv[2] ?? ""; // part of a line, to run a few cases only

function bounded(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${PATIENCE / 1000} s`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

async function run(client, line, test) {
  try {
    const none = await bounded(test(client)); // why there is nothing to test
    console.log(none ? `skip ${line}: ${none}` : `ok   ${line}`);
    return true;
  } catch (err) {
    const wire = client.recorder ? `\n      > ${client.recorder.last}` : "";
    console.log(`FAIL ${line}: ${oneLine(err.message)}${wire}`);
    return false;
  }
}

async function drive({ name, open, cases }) {
  let client;
  try {
    client = await bounded(open(target));
  } catch (err) {
    console.log(`FAIL ${name}, connect: ${oneLine(err.message)}`);
    return false;
  }
  if (!client) {
    console.log(`skip ${name}: the card does not offer it`);
    return true;
  }
  let good = true;
  for (const [title, test] of Object.entries(cases)) {
    const line = `${name}, ${title}`;
    if (line.includes(chosen)) good = (await run(client, line, test)) && good;
  }
  return good;
}

let good = true;
for (const entry of [...of03, ...of1]) {
  if (!(await drive(entry))) good = false;
}
process.exit(good ? 0 : 1);
