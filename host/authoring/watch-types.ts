import { startCompiler } from './type-check.ts';

// Checks the types of a plugin beside `plugin dev`, until its input ends: generating the types would block the site.
const compiler = await startCompiler(process.argv[2] ?? '', { watch: true });
compiler.stdout?.pipe(process.stdout);
const stop = (): void => {
  compiler.kill();
  process.exit(0);
};
process.stdin.on('end', stop).on('error', stop).resume();
process.on('SIGINT', stop).on('SIGTERM', stop);
