import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { type Database, openDatabase } from '../../../host/database/database.ts';
import { openLocal } from '../../../plugins/svc/vector-stores/local/open-local.ts';
import { localMigrations } from '../../../plugins/svc/vector-stores/local/tables.ts';
import type { FoundVector } from '../../../plugins/svc/vector-stores/vector-store.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import { createPostgresDatabase } from '../../helpers/postgres.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const clock = createSystemClock();
const vectors = Array.from({ length: 70 }, (_, index) => ({
  ...{
    id: `Größe ${String(index)}`,
    content: `Text ${String(index)}`,
    metadata: { index, nested: { list: [1, null] } },
  },
  values: [Math.sin(index), Math.cos(index), index / 3, -1e-8],
}));
const search = (database: Database): Promise<FoundVector[]> =>
  openLocal({ database, clock, timeout: 20_000 }).query('notes', {
    ...{ vector: [1, 2, 3, 4], limit: 30, namespace: 'mine', filter: { field: 'index', from: 5 } },
  });

describeDialects('vectors in a backup', (open, { dialect, directory }) => {
  it('are found with the same scores after a restore into the other database', async () => {
    const database = await open();
    await database.migrate('svc', localMigrations);
    const store = openLocal({ database, clock, timeout: 20_000 });
    await store.create({ name: 'notes', dimension: 4, metric: 'cosine' });
    await store.write('notes', vectors, { namespace: 'mine' });
    const before = await search(database);
    expect(before).to.have.length(30);
    const file = join(directory(), 'backup.jsonl.gz');
    await database.backup(file);

    const folder = await mkdtemp(join(tmpdir(), 'svc-restored-'));
    const postgres = dialect === 'sqlite' ? await createPostgresDatabase() : null;
    const other = await openDatabase({ databaseUrl: postgres?.url ?? null, dataDir: folder, clock, log: silentLog });
    try {
      await other.migrate('svc', localMigrations);
      await other.restore(file);
      expect(await search(other)).to.deep.equal(before);
      // New rows get new numbers.
      const restored = openLocal({ database: other, clock, timeout: 20_000 });
      await restored.write('notes', vectors.slice(0, 2), {});
      expect(await restored.count('notes', {})).to.equal(72);
    } finally {
      await other.close();
      await postgres?.drop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
