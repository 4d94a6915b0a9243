import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where `install.ts` puts the package: 417 MB, so it is no dependency. */
export const bindings = join(
  import.meta.dirname,
  '../../node_modules/.cache/chroma/node_modules/chromadb-js-bindings-linux-x64-gnu',
);

export interface ChromaServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real Chroma in a process of its own, with an empty folder, on a port of its own. */
export async function startChroma(): Promise<ChromaServer> {
  if (!existsSync(bindings))
    throw new Error('Chroma is not installed. Run npm run test:chroma, which installs it first.');
  const folder = mkdtempSync(join(tmpdir(), 'chroma-'));
  const port = await freePort();
  const program = `require(${JSON.stringify(bindings)}).cli(['chroma','run','--path',${JSON.stringify(folder)},'--host','127.0.0.1','--port','${String(port)}'])`;
  const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${String(port)}`;
  await answering(`${url}/api/v2/heartbeat`, child);
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answering(address: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null)
      throw new Error(`Chroma ended with code ${String(child.exitCode)} before it answered.`);
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error('Chroma did not answer within 30 seconds.');
}

/**
 * A port that nothing listens on. It is below those that the system gives to connections and to servers that name none:
 * another test would be given one of these before Chroma has started.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
