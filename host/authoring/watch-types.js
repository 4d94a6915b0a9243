// @ts-check
import { createBuild } from '../build/build.js';

// Checks the types of a plugin beside `plugin dev`, until its input ends: generating the types would block the site.
const { loadTypeCheck } = await createBuild().importHost('cli/run.ts');
const { startCompiler } = await loadTypeCheck();
const compiler = await startCompiler(process.argv[2], { watch: true });
compiler.stdout.pipe(process.stdout);
const stop = () => {
  compiler.kill();
  process.exit(0);
};
process.stdin.on('end', stop).on('error', stop).resume();
process.on('SIGINT', stop).on('SIGTERM', stop);
