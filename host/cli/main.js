#!/usr/bin/env node
// @ts-check
import { isRuntimeCurrent, keepCompiled } from '../runtime.js';

const argv = process.argv.slice(2);
/** @type {(error: unknown, argv: readonly string[]) => string | Promise<string>} */
let describe = (error) => `Error: ${error instanceof Error ? error.message : String(error)}`;
const describePlainly = describe;

/** @param {unknown} error */
async function fail(error) {
  try {
    const line = await Promise.resolve()
      .then(() => describe(error, argv))
      .catch(() => describePlainly(error, argv));
    process.stderr.write(`${line}\n`);
  } finally {
    // Open handles may keep the process alive after the error, and an error in here must not come back as the next one.
    process.exit(1);
  }
}

/** @type {(error: unknown) => boolean} whether the error is a plugin's, which is named, and the command goes on */
let contain = () => false;
/** @param {unknown} error */
const onUncaught = (error) => {
  if (!contain(error)) void fail(error);
};
// One sentence instead of a stack trace, also for what no command catches.
if (argv[0] === 'start' && argv.length === 1) await import('../main.js');
else if (isRuntimeCurrent()) {
  keepCompiled();
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onUncaught);
  await runCommand();
}

/** Runs one command in a separate process, with or without a running site. */
async function runCommand() {
  try {
    if (argv[0] === 'new') process.exit(await (await import('./site-commands.ts')).runWithoutSite(argv));
    await import('../sources/module-hooks.ts');
    const { run, describeError } = await import('./run.ts');
    describe = describeError;
    await run(argv, { onUncaught: (/** @type {typeof contain} */ handle) => void (contain = handle) });
  } catch (error) {
    await fail(error);
  }
}
