import { createSystemClock } from '../../host/clock.ts';
import { store } from '../../plugins/svc/vector-stores/chroma.store.ts';
import { upstreamHttp } from '../helpers/upstream-http.ts';
import { describeVectorStore } from '../conformance/vector-store.ts';
import { noDatabase } from '../helpers/no-database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { startChroma, type ChromaServer } from './chroma-server.ts';

describe('a real Chroma', () => {
  let server: ChromaServer;
  before(async () => {
    server = await startChroma();
  });
  after(() => server.stop());

  describeVectorStore('Chroma', async () => ({
    store,
    opened: await store.open({
      settings: { url: server.url },
      ...upstreamHttp.accessTo(server.url),
      database: noDatabase,
      clock: createSystemClock(),
      log: silentLog,
      timeout: 20_000,
    }),
  }));
});
