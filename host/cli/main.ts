import { createSystemClock, keepAlive } from '../clock.ts';
import { readConfig, type Config } from '../config.ts';
import { createHost, type Host } from '../host.ts';

/** Runs one command in a separate process, with or without a running site. */
try {
  const argv = process.argv.slice(2);
  const config = readConfig();
  const host = await open(config, argv);
  if (host !== null) await run(host, argv);
} catch (error) {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  // Open handles may keep the process alive after the error.
  process.exit(1);
}

async function run(host: Host, argv: readonly string[]): Promise<void> {
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
async function open(config: Config, argv: readonly string[]): Promise<Host | null> {
  try {
    return await keepAlive(
      createHost({ config: { ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel } }),
    );
  } catch (error) {
    const { fileToRestore, rescue } = await import('./rescue.ts');
    const file = fileToRestore(argv);
    if (file === null) throw error;
    const { createLogger } = await import('../log/log.ts');
    const { createRedactor } = await import('../log/redactor.ts');
    const clock = createSystemClock();
    const { tables, rows, migrated } = await keepAlive(
      rescue({ config, file, clock, log: createLogger({ level: 'warn', clock, redactor: createRedactor() }) }),
    );
    process.stdout.write(
      `The site could not start, so the backup was restored without it: ${tables} tables, ${rows} rows, then ${migrated} migrations.\n`,
    );
    return null;
  }
}
