import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { openDatabase } from '../../../../host/database/database.ts';
import { createSourceStore } from '../../../../plugins/svc/modules/knowledge-base/sources/source-store.ts';
import { createSourceWork } from '../../../../plugins/svc/modules/knowledge-base/sources/source-work.ts';
import { SourceChangedError } from '../../../../plugins/svc/modules/knowledge-base/sources/source.ts';
import { describeHosts, silentLog } from '../../../helpers/dialects.ts';

describeHosts('work on a source of a knowledge base', ({ location }) => {
  it('keeps its result when progress arrives after it', async () => {
    const clock = createFakeClock();
    const database = await openDatabase({ ...location(), clock, log: silentLog });
    try {
      const work = createSourceWork({ database, clock });
      const sources = createSourceStore({ database, clock, jobs: { addMany: () => Promise.resolve(0) } as never });
      const { id } = await sources.put({ baseId: 1, kind: 'text', identity: 'a', title: 'A' });
      const source = await work.begin(id);
      if (source === null) throw new Error('The source did not begin.');
      await work.progress(source, { message: 'Reading' });
      expect((await sources.get(id))?.message).to.equal('Reading');
      await work.end(id, 'failed', 'The page is gone.');
      const late = await work.progress(source, { message: 'Fetching the page' }).catch((error: unknown) => error);
      expect(late).to.be.instanceOf(SourceChangedError);
      expect(await sources.get(id)).to.deep.include({ state: 'failed', message: 'The page is gone.' });
    } finally {
      await database.close();
    }
  });
});
