import { createSystemClock } from '../../../host/clock.ts';
import { upstreamHttp } from '../../helpers/upstream-http.ts';
import { store as chroma } from '../../../plugins/svc/vector-stores/chroma.store.ts';
import { store as pinecone } from '../../../plugins/svc/vector-stores/pinecone.store.ts';
import { store as qdrant } from '../../../plugins/svc/vector-stores/qdrant.store.ts';
import { findFakeStore } from '../../../plugins/sandbox/fakes.ts';
import { describeVectorStore } from '../../conformance/vector-store.ts';
import { noDatabase } from '../../helpers/no-database.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { openSandbox, type OpenSandbox } from '../../sandbox/helpers/open-sandbox.ts';

describe('the stores of this service against the stand-ins of the sandbox', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());

  for (const store of [pinecone, qdrant, chroma]) {
    describeVectorStore(store.label, async () => ({
      store,
      opened: await store.open({
        settings: findFakeStore(store.id)?.settings(sandbox.url) ?? {},
        ...upstreamHttp.accessTo(sandbox.url),
        database: noDatabase,
        clock: createSystemClock(),
        log: silentLog,
        timeout: 20_000,
      }),
    }));
  }
});
