import { keepAlive } from './clock.ts';
import { readConfig } from './config.ts';
import { createHost } from './host.ts';

/** Milliseconds after which a stop that hangs is given up. */
const patience = 20_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const milliseconds = (): number => Math.round(performance.now());

/** Runs the site until a signal stops it. @throws Error with what to do where it cannot start. */
export async function serve(): Promise<void> {
  const config = readConfig();
  const host = await keepAlive(createHost({ config }));
  const { url, setupLink } = await host.start();
  print(`Ready on ${url} (${host.database.dialect}, ${milliseconds()} ms)`);
  if (setupLink !== null) print(`Set up your site: ${setupLink}`);
  let signals = 0;
  const stop = (): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
    host.clock.after(patience, () => process.exit(1));
    void host.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        host.log.error('The site did not stop cleanly.', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A plugin's forgotten promise must not take the site down.
  process.on('unhandledRejection', (error) =>
    host.log.error('A promise was rejected and nobody was listening.', { error }),
  );
}
