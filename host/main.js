// @ts-check
import { isRuntimeCurrent, keepCompiled } from './runtime.js';

if (isRuntimeCurrent()) {
  keepCompiled();
  /** @type {(error: unknown) => string | Promise<string>} */
  let describe = (error) => (error instanceof Error ? error.message : String(error));
  try {
    await import('./sources/module-hooks.ts');
    const { serve, describeError } = await import('./serve.ts');
    describe = describeError;
    await serve();
  } catch (error) {
    process.stderr.write(`${await describe(error)}\n`);
    process.exit(1);
  }
}
