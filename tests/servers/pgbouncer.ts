import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../helpers/free-port.ts';
import { until } from '../helpers/until.ts';

export interface Pooler {
  /** The address of the database that it leads to. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface PoolerInit {
  readonly mode: 'session' | 'transaction';
  /** Connections to the server. Default 20. */
  readonly size?: number;
  /** PEM of a key and its certificate, for localhost: others than TLS connections are refused. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** Starts PgBouncer in front of a database, which takes every user without a password. */
export async function startPgbouncer(databaseUrl: string, { mode, size = 20, tls }: PoolerInit): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), 'svc-pgbouncer-'));
  const port = await findFreePort();
  const name = target.pathname.slice(1);
  const host = decodeURIComponent(target.hostname);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=${host} port=${target.port} dbname=${name} user=${decodeURIComponent(target.username)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${String(size)}
max_client_conn = 500
${tls === undefined ? '' : `client_tls_sslmode = require\nclient_tls_key_file = ${folder}/key\nclient_tls_cert_file = ${folder}/cert\n`}`,
  );
  for (const [file, text] of Object.entries(tls ?? {})) await writeFile(join(folder, file), text);
  await chmod(folder, 0o755);
  const child = spawn('pgbouncer', [
    ...(process.getuid?.() === 0 ? ['-u', 'postgres'] : []),
    `${folder}/pgbouncer.ini`,
  ]);
  let output = '';
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', (error) =>
      reject(new Error('PgBouncer did not start; on Debian: apt-get install pgbouncer', { cause: error })),
    );
    child.once('exit', (code) => reject(new Error(`PgBouncer ended with ${String(code)}.\n${output}`)));
  });
  await Promise.race([until('PgBouncer listens', () => output.includes('listening on')), failed]);
  failed.catch(() => undefined);
  const url = new URL(databaseUrl);
  url.hostname = tls === undefined ? '127.0.0.1' : 'localhost';
  url.port = String(port);
  return {
    url: url.href,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGINT');
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
