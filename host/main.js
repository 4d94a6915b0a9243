// @ts-check
import { isRuntimeCurrent } from './runtime.js';

if (isRuntimeCurrent()) {
  /** @type {(error: unknown) => string | Promise<string>} */
  let describe = (error) => (error instanceof Error ? error.message : String(error));
  try {
    const { createBuild } = await import('./build/build.js');
    const { compilePlugin, importHost } = createBuild();
    const { serve, describeError } = await importHost('serve.ts');
    describe = describeError;
    await serve({ compilePlugin });
  } catch (error) {
    process.stderr.write(`${await describe(error)}\n`);
    process.exit(1);
  }
}
