import type { TestHost } from '#testing';

/** Tables of the host that stay as tests leave them: its caches, timers and chained records rely on them. */
const skipped =
  /^(migrations|notifications|options|cron_events|cron_runs|security_log|sqlite_.*|svc_conversation_t.*)$/;

/**
 * Starts a site before the tests of the suite that is being declared, and stops it after them. After each test it is as
 * `open` returned it: rows, options and callbacks that the test added are removed, changed options have their values
 * again, and a fake clock shows the time of the start. What `open` itself wrote stays as tests leave it.
 *
 * @param stop stops the site; default: its host alone.
 */
export function shareSite<Site extends { readonly host: TestHost }>(
  open: () => Promise<Site>,
  stop: (site: Site) => Promise<void> = ({ host }) => host.stop(),
): () => Site {
  let site: Site | undefined;
  let restore = async (): Promise<void> => undefined;
  let stopOpened = async (): Promise<void> => undefined;

  before('starts the site', async function () {
    this.timeout(60_000);
    const opened = await open();
    stopOpened = () => stop(opened);
    // What tests add belongs to an owner, so that it can be removed at once.
    const { addFilter, addAction } = opened.host.hooks.forOwner('test');
    Object.assign(opened.host, { hooks: { ...opened.host.hooks, addFilter, addAction } });
    site = opened;
    restore = await createRestore(opened.host);
  });
  afterEach('restores the site', () => restore());
  after('stops the site', () => stopOpened());

  return () => {
    if (!site) throw new Error('The site runs only within a test.');
    return site;
  };
}

async function createRestore(host: TestHost): Promise<() => Promise<void>> {
  const restoreRows = await createRestoreRows(host.database);
  const started = host.clock.now();
  const options = await readOptions(host);
  return async () => {
    host.hooks.removeOwner('test');
    const changed = await readOptions(host);
    for (const name of changed.keys()) if (!options.has(name)) await host.options.delete(name);
    for (const [name, text] of options)
      if (changed.get(name) !== text) await host.options.update(name, JSON.parse(text));
    await restoreRows();
    if ('jump' in host.clock) host.clock.jump(started - host.clock.now());
  };
}

async function readOptions({ database }: TestHost): Promise<ReadonlyMap<string, string>> {
  const rows = await database.knex<{ name: string; value: string }>('options').select('name', 'value');
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Removes the rows that were added since. Rows of users, posts and terms go with them. */
async function createRestoreRows({ knex, dialect }: TestHost['database']): Promise<() => Promise<void>> {
  const read = async (sql: string): Promise<readonly { readonly name: string }[]> => {
    const found = (await knex.raw(sql)) as { name: string }[] | { rows: { name: string }[] };
    return Array.isArray(found) ? found : found.rows;
  };
  const tables = await read(
    dialect === 'sqlite'
      ? "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const added = new Map<string, string>();
  for (const { name } of tables.filter((table) => !skipped.test(table.name))) {
    if ((await knex(name).first()) === undefined) added.set(name, 'TRUE');
    else if (await knex.schema.hasColumn(name, 'id')) {
      const ids = (await knex(name).pluck('id')) as unknown[];
      added.set(name, `id NOT IN (${ids.map((id) => `'${String(id)}'`).join()})`);
    }
  }
  const find = [...added]
    .map(([name, where]) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name} WHERE ${where})`)
    .join(' UNION ALL ');
  return async () => {
    for (const { name } of await read(find))
      await knex(name)
        .whereRaw(added.get(name) ?? '')
        .delete();
  };
}
