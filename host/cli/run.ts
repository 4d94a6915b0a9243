import { createSystemClock, keepAlive } from '../clock.ts';
import { readConfig, type Config } from '../config.ts';
import { createHost, type Host, type HostInit } from '../host.ts';

type Compiling = Pick<HostInit, 'compilePlugin'>;

/**
 * Runs one command in a separate process, with or without a running site. Sets the exit code of the process.
 *
 * @param argv the arguments after the program name.
 * @throws Error with a remedy when the site cannot be opened.
 */
export async function run(argv: readonly string[], compiling: Compiling): Promise<void> {
  const host = await open(readConfig(), argv, compiling);
  if (host === null) return;
  try {
    process.exitCode = await host.cli.run(argv, {
      out: (text) => void process.stdout.write(`${text}\n`),
      err: (text) => void process.stderr.write(`${text}\n`),
    });
  } finally {
    await host.stop();
  }
}

/** Null: the site cannot start, and `db restore` has already run without it. */
async function open(config: Config, argv: readonly string[], compiling: Compiling): Promise<Host | null> {
  try {
    return await keepAlive(
      createHost({
        config: { ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel },
        ...compiling,
      }),
    );
  } catch (error) {
    const { fileToRestore, rescue } = await import('./rescue.ts');
    const file = fileToRestore(argv);
    if (file === null) throw error;
    const { createLogger } = await import('../log/log.ts');
    const { createRedactor } = await import('../log/redactor.ts');
    const clock = createSystemClock();
    const { tables, rows, migrated } = await keepAlive(
      rescue({
        ...compiling,
        config,
        file,
        clock,
        log: createLogger({ level: 'warn', clock, redactor: createRedactor() }),
      }),
    );
    process.stdout.write(
      `The site could not start, so the backup was restored without it: ${tables} tables, ${rows} rows, then ${migrated} migrations.\n`,
    );
    return null;
  }
}
