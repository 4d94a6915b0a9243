// @ts-check
import { setFlagsFromString } from 'node:v8';

// What runs once is not worth optimizing: a sixth of the processor time of a command. `run` lifts it for the command itself.
setFlagsFromString('--no-opt');

/** @param {unknown} error */
function fail(error) {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  // Open handles may keep the process alive after the error.
  process.exit(1);
}

// One sentence instead of a stack trace, also for what no command catches.
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** Runs one command in a separate process, with or without a running site. */
try {
  const { createBuild } = await import('../build/build.js');
  const { compilePlugin, importHost } = createBuild();
  const { run } = await importHost('cli/run.ts');
  await run(process.argv.slice(2), { compilePlugin });
} catch (error) {
  fail(error);
}
