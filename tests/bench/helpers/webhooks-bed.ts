import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../host/clock.ts';
import { openDatabase, type Database } from '../../../host/database/database.ts';
import { createOutbound } from '../../../host/http/outbound.ts';
import { createDeliver } from '../../../plugins/svc/webhooks/delivery/deliver.ts';
import { createPostgresDatabase } from '../../helpers/postgres.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { openWebhooks, queued, type Opened } from '../../svc/webhooks/open-webhooks.ts';
import { startChild } from './child.ts';

/** Sixteen receivers in a process of their own. */
export async function startReceivers(): Promise<{ readonly ports: readonly string[]; stop(): Promise<void> }> {
  const child = await startChild({
    command: process.execPath,
    args: ['tests/bench/helpers/hook-receiver.ts'],
    ready: /Ready on (\S+)/,
  });
  return { ports: child.ready.split(','), stop: () => child.stop() };
}

export type Dialect = 'sqlite' | 'postgresql';

export interface Bed extends Opened {
  /** Attempts begun so far. */
  readonly sent: () => number;
  readonly stop: () => Promise<void>;
}

export async function openBed(dialect: Dialect): Promise<Bed> {
  const clock = createSystemClock();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-hooks-'));
  const server = dialect === 'postgresql' ? await createPostgresDatabase() : null;
  const database: Database = await openDatabase({ databaseUrl: server?.url ?? null, dataDir, clock, log: silentLog });
  const http = createOutbound({ clock });
  const deliver = createDeliver({ http, clock });
  let sent = 0;
  const opened = await openWebhooks(database, (request) => {
    sent += 1;
    return deliver(request);
  });
  await opened.webhooks.setEnabled(true);
  await opened.webhooks.setSecret('the secret of this benchmark');
  return {
    ...opened,
    sent: () => sent,
    async stop() {
      await opened.webhooks.stop();
      await http.close();
      await database.close();
      await server?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Answers events per second. */
export async function emitMany({ webhooks }: Opened, count: number, callers = 64): Promise<number> {
  let left = count;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left-- > 0) {
        const { error } = await webhooks.emit('chatbot.session_started', queued(left));
        if (error !== null) throw new Error(error);
      }
    }),
  );
  return (count / (performance.now() - began)) * 1000;
}
