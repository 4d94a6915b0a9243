import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { upstreamHttp } from '../helpers/upstream-http.ts';
import { store as chroma } from '../../plugins/svc/vector-stores/chroma.store.ts';
import { startKnowledgeSite, type KnowledgeSite } from '../contract/knowledge-site.ts';
import { makePdf } from '../helpers/make-pdf.ts';
import { noDatabase } from '../helpers/no-database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { startChroma, type ChromaServer } from './chroma-server.ts';
import { answers, longDocument } from './long-document.ts';

describe('a document of 300 pages in a knowledge base with a real Chroma', function () {
  this.timeout(180_000);
  let server: ChromaServer;
  let site: KnowledgeSite;
  let folder: string;
  let base: number;
  const pages = 300;

  before(async () => {
    server = await startChroma();
    site = await startKnowledgeSite();
    site.host.hooks.addFilter(
      'svc_vector_store_settings',
      (settings: Readonly<Record<string, unknown>>, id: string) => (id === 'chroma' ? { url: server.url } : settings),
      100,
    );
    folder = await mkdtemp(join(tmpdir(), 'knowledge-'));
    const made = (await site.run(
      'knowledge',
      'create',
      'Handbook',
      '--store=chroma',
      '--target=handbook',
      '--provider=openai',
      '--model=text-embedding-3-small',
      '--chunk=300',
      '--overlap=40',
    )) as { id: number };
    base = made.id;
  });
  after(async () => {
    await site.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const behind = async () =>
    chroma.open({
      settings: { url: server.url },
      ...upstreamHttp.accessTo(server.url),
      database: noDatabase,
      clock: createSystemClock(),
      log: silentLog,
      timeout: 20_000,
    });
  const ids = async (): Promise<string[]> =>
    ((await site.host.database.knex('svc_knowledge_chunks').orderBy('vector_id')) as { vector_id: string }[]).map(
      (row) => row.vector_id,
    );
  const readTokens = async (): Promise<number> => {
    const rows = (await site.host.database
      .knex('svc_usage')
      .where('reference', 'like', 'knowledge:%')
      .sum({ total: 'input_tokens' })) as { total: number | null }[];
    return Number(rows[0]?.total ?? 0);
  };
  /** Tokens of all calls so far: the ledger stores a call at most a second after it ended. */
  const tokensSoFar = async (): Promise<number> => {
    for (let before = -1, now = await readTokens(); ; before = now, now = await readTokens()) {
      if (now === before) return now;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
  };
  const source = async (): Promise<{ id: number; state: string; message: string }> =>
    ((await site.run('knowledge', 'sources', String(base))) as { id: number; state: string; message: string }[])[0]!;
  const index = async (rename: Readonly<Record<number, string>> = {}): Promise<void> => {
    const path = join(folder, 'handbook.pdf');
    await writeFile(path, makePdf(longDocument(pages, rename), 'Handbook of the town'));
    await site.run('knowledge', 'add', String(base), `--file=${path}`);
    await site.run('knowledge', 'index', String(base));
  };

  it('is cut and written, each passage once, and tells how it gets on meanwhile', async () => {
    const seen: string[] = [];
    const look = setInterval(() => {
      void site.host.database
        .knex('svc_knowledge_sources')
        .first('chunks_done', 'chunks_total', 'message')
        .then((row: { chunks_done: number; chunks_total: number; message: string } | undefined) =>
          seen.push(`${String(row?.chunks_done)}/${String(row?.chunks_total)} ${row?.message ?? ''}`),
        );
    }, 20);
    await index();
    clearInterval(look);
    const { state, message } = await source();
    expect(state, message).to.equal('indexed');
    const written = await ids();
    expect(written.length).to.be.greaterThan(300);
    expect(await (await behind()).count('handbook', {})).to.equal(written.length);
    expect(new Set(seen).size).to.be.greaterThan(4);
  });

  it('answers at least 18 of 20 questions among the first three passages', async () => {
    const missed: string[] = [];
    for (const { question, holds } of answers) {
      const found = (await site.run('knowledge', 'search', String(base), question, '--limit=3')) as { text: string }[];
      if (!found.some(({ text }) => text.includes(holds))) missed.push(question);
    }
    expect(missed.length, missed.join('\n')).to.be.at.most(2);
  });

  it('is left as it is when it is indexed again', async () => {
    const [before, tokens] = [await ids(), await tokensSoFar()];
    await index();
    expect((await source()).message).to.equal('Nothing has changed since the last indexing.');
    expect(await ids()).to.deep.equal(before);
    expect(await (await behind()).count('handbook', {})).to.equal(before.length);
    expect(await tokensSoFar()).to.equal(tokens);
  });

  it('has the passages below one heading replaced, and no others, when that changes', async () => {
    const before = await ids();
    await index({ 148: 'Section 148: the lighthouse and its keeper' });
    const now = await ids();
    const [gone, added] = [before.filter((id) => !now.includes(id)), now.filter((id) => !before.includes(id))];
    expect(gone.length).to.be.greaterThan(0).and.at.most(6);
    expect(added).to.have.length(gone.length);
    const found = (await (await behind()).fetch('handbook', added, {})).map(({ metadata }) =>
      String(metadata['heading']),
    );
    expect(
      found.every((heading) => heading.endsWith('Section 148: the lighthouse and its keeper')),
      found.join('\n'),
    ).to.equal(true);
    expect(await (await behind()).fetch('handbook', gone, {})).to.deep.equal([]);
    expect(await (await behind()).count('handbook', {})).to.equal(now.length);
  });

  it('leaves no vector behind when it is deleted', async () => {
    await site.run('knowledge', 'remove', String((await source()).id));
    expect(await ids()).to.deep.equal([]);
    expect(await (await behind()).count('handbook', {})).to.equal(0);
  });
});
