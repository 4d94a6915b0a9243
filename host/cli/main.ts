import { keepAlive } from '../clock.ts';
import { readConfig } from '../config.ts';
import { createHost } from '../host.ts';

/** One command in a process of its own, beside a running site or without one. */
try {
  const config = readConfig();
  const host = await keepAlive(createHost({ config: { ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel } }));
  try {
    process.exitCode = await host.cli.run(process.argv.slice(2), {
      out: (text) => void process.stdout.write(`${text}\n`),
      err: (text) => void process.stderr.write(`${text}\n`),
    });
  } finally {
    await host.stop();
  }
} catch (error) {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
