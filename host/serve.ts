import { keepAlive } from './clock.ts';
import { readConfig } from './config.ts';
import { createHost, type HostInit } from './host.ts';

/** Milliseconds after which the process exits even if the stop hangs. */
const shutdownTimeoutMs = 20_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const milliseconds = (): number => Math.round(performance.now());

/** Runs the site until a signal stops it. @throws Error with a remedy when it cannot start. */
export async function serve({ compilePlugin }: Pick<HostInit, 'compilePlugin'>): Promise<void> {
  const config = readConfig();
  const host = await keepAlive(createHost({ config, ...(compilePlugin && { compilePlugin }) }));
  const { url, setupLink } = await host.start();
  print(`Ready on ${url} (${host.database.dialect}, ${milliseconds()} ms)`);
  if (setupLink !== null) print(`Set up your site: ${setupLink}`);
  let signals = 0;
  const stop = (): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
    host.clock.after(shutdownTimeoutMs, () => process.exit(1));
    void host.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        host.log.error('Shutdown failed', { event: 'shutdown_failed', error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A plugin that does not await a promise must not take the site down.
  process.on('unhandledRejection', (error) =>
    host.log.error('Unhandled promise rejection', { event: 'unhandled_rejection', error }),
  );
}
