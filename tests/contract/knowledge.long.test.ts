import { Ajv } from 'ajv';
import { expect } from 'chai';
import { serviceEvents } from '../../plugins/svc/events.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { contractFields } from './webhook-fields.ts';
import { startKnowledgeSite, type KnowledgeSite } from './knowledge-site.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const handbook = `# Handbook

Welcome to the shop. ${'It has been open since 1987. '.repeat(3)}

## Shipping

We ship to Japan within five days. ${'The parcels are tracked all the way. '.repeat(12)}

## Returns

Send goods back within thirty days. ${'A label is in the box. '.repeat(12)}

## Warranty

Kettles have a warranty of seven years. ${'Keep the receipt in a dry place. '.repeat(12)}
`;

describeHosts('a knowledge base', ({ location }) => {
  describe('on a separate site', () => {
    let site: KnowledgeSite;
    let receiver: WebhookReceiver;

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startKnowledgeSite({ database: databaseUrl ?? dataDir });
      receiver = await startWebhookReceiver();
    });
    afterEach(async () => {
      await site.stop();
      await receiver.stop();
    });

    const listen = async (): Promise<void> => {
      await site.host.cli('svc', 'webhook', 'on');
      const { code, err } = await site.host.cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({ name: 'Shop', url: receiver.url, events: ['kb.source_indexed'] }),
      );
      if (code !== 0) throw new Error(err);
    };
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are compared, not typed.
    const events = (): any[] => receiver.received.map(({ body }) => JSON.parse(body.toString()));
    const addText = (base: number, title: string, text: string): Promise<{ id: number }> =>
      site.run('knowledge', 'add', String(base), `--title=${title}`, `--text=${text}`);
    const find = async (base: number, question: string): Promise<string[]> =>
      ((await site.run('knowledge', 'search', String(base), question)) as { text: string }[]).map(({ text }) => text);
    const resultVectors = async (base: number): Promise<{ count: number; ids: string[] }> => {
      const rows = (await site.host.database.knex('svc_knowledge_chunks').orderBy('id')) as { vector_id: string }[];
      const [{ target } = { target: '' }] = (
        (await site.run('knowledge', 'list')) as { id: number; target: string }[]
      ).filter(({ id }) => id === base);
      const stored = (await site.host.database.knex('sandbox_records').count({ total: '*' })) as {
        total: number | string;
      }[];
      expect(target).not.to.equal('');
      return { count: Number(stored[0]?.total), ids: rows.map((row) => row.vector_id) };
    };

    it('is made with a collection of the length of the model, filled and asked; its event arrives once, complete', async () => {
      await listen();
      const base = await site.base('Help', '--chunk=120', '--overlap=20');
      await addText(base, 'Handbook', handbook);
      await site.settled(base);
      const [best] = await find(base, 'How long is the warranty of a kettle?');
      expect(best).to.match(/^Handbook > Warranty\n\nKettles have a warranty of seven years\./);
      await receiver.first(1);
      const [event, ...more] = events();
      expect(more).to.deep.equal([]);
      expect([
        event.source,
        event.resource.type,
        event.data.source.post_title,
        event.data.provider,
        event.data.store,
        event.data.status,
      ]).to.deep.equal([
        { module: 'knowledge_base', origin: 'admin_knowledge_base' },
        'vector_source',
        'Handbook',
        'Qdrant',
        { id: 'help', name: 'Help' },
        'indexed',
      ]);
      const definition = serviceEvents.find(({ name }) => name === 'kb.source_indexed');
      const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
      expect(ajv.validate(definition?.schema ?? false, event.data), ajv.errorsText()).to.equal(true);
      const missing = (contractFields['kb.source_indexed'] ?? []).filter(
        (path) =>
          path
            .split('.')
            .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], event.data) ===
          undefined,
      );
      expect(missing).to.deep.equal([]);
    });

    it('skips what has not changed, embeds only the passages that have, never has one twice, and leaves none behind', async () => {
      await listen();
      const base = await site.base('Help', '--chunk=120', '--overlap=20');
      const file = async (text: string): Promise<void> => {
        await site.host.cli('svc', 'sandbox', 'on');
        const { writeFile } = await import('node:fs/promises');
        const path = `${location().dataDir}/handbook.md`;
        await writeFile(path, text);
        await site.run('knowledge', 'add', String(base), `--file=${path}`);
        await site.settled(base);
      };
      await file(handbook);
      const first = await resultVectors(base);
      expect(first.count).to.equal(first.ids.length).and.be.greaterThan(4);
      await receiver.first(1);
      const calls = async (): Promise<number> =>
        Number(
          (
            (await site.host.database.knex('svc_usage').where({ module: 'knowledge-base' }).count({ total: '*' })) as {
              total: number | string;
            }[]
          )[0]?.total,
        );
      await site.run('knowledge', 'index', String(base));
      await file(handbook);
      expect(await resultVectors(base)).to.deep.equal(first);
      expect(events()).to.have.length(1);
      const before = await calls();
      await file(handbook.replace('## Returns', '## Sending back'));
      const changed = await resultVectors(base);
      const gone = first.ids.filter((id) => !changed.ids.includes(id));
      expect(changed.count).to.equal(first.count);
      expect(gone.length).to.be.greaterThan(0).and.lessThan(4);
      expect((await find(base, 'Sending back goods'))[0]).to.contain('Handbook > Sending back');
      await receiver.first(2);
      expect(events()).to.have.length(2);
      expect(await calls()).to.be.at.least(before);
      const [source] = (await site.run('knowledge', 'sources', String(base))) as { id: number; message: string }[];
      expect(source?.message).to.match(/new, \d+ unchanged, \d+ deleted/);
      await site.run('knowledge', 'remove', String(source?.id));
      await site.settled(base);
      expect(await resultVectors(base)).to.deep.equal({ count: 0, ids: [] });
    });

    it('says why a source failed, tries it again when asked, and goes with its collection', async () => {
      const base = await site.base();
      await addText(base, 'Nothing', '# Only a heading');
      await site.settled(base);
      const [failed] = (await site.run('knowledge', 'sources', String(base))) as {
        id: number;
        state: string;
        message: string;
      }[];
      expect([failed?.state, failed?.message]).to.deep.equal(['failed', 'The source has no text.']);
      site.host.hooks.addFilter('svc_knowledge_text', (text) => ({
        ...text,
        text: `${text.text}\n\nNow there is a text.`,
      }));
      await site.run('knowledge', 'index', String(base), `--source=${String(failed?.id)}`);
      await site.settled(base);
      expect(await find(base, 'text')).to.deep.equal(['Only a heading\n\nNow there is a text.']);
      expect(await site.run('knowledge', 'delete', String(base), '--target')).to.equal('Help is deleted.');
      expect(await site.run('knowledge', 'list')).to.deep.equal([]);
      expect(await site.host.database.knex('sandbox_collections')).to.deep.equal([]);
    });

    it('waits for a vector store that is away, and deletes its passages as soon as it is back', async () => {
      const base = await site.base();
      const { id } = await addText(base, 'One', 'A text about shipping.');
      await site.settled(base);
      await site.host.options.update('sandbox_dial', { fault: '500', rate: 1, delay_ms: 0, seed: 1, pace_ms: 0 });
      const { out } = await site.host.cli('svc', 'knowledge', 'remove', String(id));
      expect(out).to.contain('is being deleted');
      const [source] = (await site.run('knowledge', 'sources', String(base))) as { state: string; message: string }[];
      expect(source?.state).to.equal('deleting');
      expect(source?.message).to.match(/Qdrant|failed/);
      await site.host.options.update('sandbox_dial', { fault: 'none', rate: 0, delay_ms: 0, seed: 1, pace_ms: 0 });
      await site.host.database.knex('jobs').where({ state: 'waiting' }).update({ due_at: 0 });
      await site.host.cli('jobs', 'run');
      await site.settled(base);
      expect(await resultVectors(base)).to.deep.equal({ count: 0, ids: [] });
    });
  });
});
