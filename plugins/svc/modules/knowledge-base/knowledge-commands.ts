import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { defaultChunks, type KnowledgeBase } from './bases/base.ts';
import { createBase } from './bases/create-base.ts';
import { knowledgeOf } from './knowledge.ts';
import { questionCommands } from './questions/question-commands.ts';
import { searchKnowledge } from './search.ts';
import { addSourcesTo, type AddSources } from './sources/add-source.ts';
import { sourceStates, type Source, type SourceState } from './sources/source.ts';

type Flags = Readonly<Record<string, unknown>>;

const text = { type: 'string' } as const;
const base = { name: 'base', description: 'Id of a knowledge base' } as const;

/** `svc knowledge list|create|delete|add|index|sources|remove|search|questions|answer`. */
export function knowledgeCommands(context: ServiceContext): readonly CliCommand[] {
  return [
    ...baseCommands(context),
    ...sourceCommands(context),
    ...questionCommands(context, (id) => baseOf(context, id)),
  ];
}

function baseCommands(context: ServiceContext): readonly CliCommand[] {
  const { bases, sources } = knowledgeOf(context);
  return [
    {
      name: 'svc knowledge list',
      description: 'Lists the knowledge bases.',
      async run() {
        const counts = await sources.counts();
        return (await bases.list()).map(({ id, name, store, target, embeddingProvider, embeddingModel, state }) => {
          const { indexed = 0, pending = 0, indexing = 0, failed = 0, chunks = 0 } = counts.get(id) ?? {};
          return {
            id,
            name,
            store,
            target,
            embedding: `${embeddingProvider}/${embeddingModel}`,
            state,
            indexed,
            waiting: pending + indexing,
            failed,
            passages: chunks,
          };
        });
      },
    },
    {
      name: 'svc knowledge create',
      description: 'Makes a knowledge base; its index or collection is made where there is none of that name.',
      args: [{ name: 'name', description: 'What it is called' }],
      flags: {
        store: { ...text, description: 'Vector store: pinecone, qdrant, chroma' },
        target: { ...text, description: 'Name of its index or collection' },
        namespace: { ...text, description: 'Pinecone only' },
        provider: { ...text, description: 'Embedding provider' },
        model: { ...text, description: 'Embedding model; left out: the saved one' },
        chunk: { type: 'integer', description: 'Most tokens of a passage' },
        overlap: { type: 'integer', description: 'Tokens repeated in the next passage' },
      },
      async run({ args: [name = ''], flags }) {
        const { base: made, madeTarget } = await createBase(context, {
          name,
          store: string(flags, 'store'),
          target: string(flags, 'target'),
          namespace: string(flags, 'namespace'),
          embeddingProvider: string(flags, 'provider'),
          embeddingModel: string(flags, 'model'),
          chunkTokens: Number(flags['chunk'] ?? defaultChunks.chunkTokens),
          overlapTokens: Number(flags['overlap'] ?? defaultChunks.overlapTokens),
        });
        return {
          id: made.id,
          name: made.name,
          store: made.store,
          target: made.target,
          made_target: madeTarget,
          embedding: `${made.embeddingProvider}/${made.embeddingModel}`,
        };
      },
    },
    {
      name: 'svc knowledge delete',
      description: 'Deletes a knowledge base with its passages.',
      args: [base],
      flags: {
        target: { type: 'boolean', description: 'Its index or collection too' },
        forget: { type: 'boolean', description: 'Without a word to its vector store, which is gone for good' },
      },
      async run({ args: [id = ''], flags }) {
        const one = await baseOf(context, id);
        if (flags['forget'] === true) {
          await bases.forget(one.id);
          return `${one.name} is forgotten. What its vector store still holds stays there.`;
        }
        await bases.markDeleting(one.id, flags['target'] === true);
        await sources.markDeleting({ baseId: one.id });
        await knowledgeOf(context).drain();
        return (await bases.get(one.id)) === null ? `${one.name} is deleted.` : `${one.name} is being deleted.`;
      },
    },
    {
      name: 'svc knowledge search',
      description: 'Shows what a knowledge base holds that is most like a question.',
      args: [base, { name: 'question', description: 'The question', rest: true }],
      flags: { limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Most passages' } },
      run: async ({ args: [id = '', ...words], flags }) =>
        searchKnowledge(context, await baseOf(context, id), {
          text: words.join(' '),
          limit: Number(flags['limit'] ?? 5),
        }),
    },
  ];
}

function sourceCommands(context: ServiceContext): readonly CliCommand[] {
  const { sources, drain } = knowledgeOf(context);
  return [
    {
      name: 'svc knowledge add',
      description:
        'Adds sources to a knowledge base: --file, --url, --sitemap, --post, --type, --text with --title, or --question with --answer.',
      args: [base],
      flags: {
        file: { ...text, description: 'Path of a txt, md, html or pdf' },
        url: { ...text, description: 'Address of a page' },
        sitemap: { ...text, description: 'Address of a sitemap' },
        post: { type: 'integer', description: 'Id of a post' },
        type: { ...text, description: 'Type of posts: all new and changed ones' },
        text: { ...text, description: 'A text' },
        title: { ...text, description: 'Its title' },
        question: { ...text, description: 'A question' },
        answer: { ...text, description: 'Its answer' },
      },
      async run({ args: [id = ''], flags }) {
        const added = await add(addSourcesTo(context, await baseOf(context, id)), flags);
        return typeof added === 'string'
          ? added
          : { id: added.id, title: added.title, kind: added.kind, state: added.state };
      },
    },
    {
      name: 'svc knowledge index',
      description:
        'Looks at all sources of a knowledge base again, here and now, and indexes what is new or has changed.',
      args: [base],
      flags: {
        anew: { type: 'boolean', description: 'Also what has not changed' },
        source: { type: 'integer', description: 'Only this source' },
      },
      async run({ args: [id = ''], flags }) {
        const one = await baseOf(context, id);
        const asked = await sources.requeue(
          { baseId: one.id, ...(typeof flags['source'] === 'number' && { id: flags['source'] }) },
          { anew: flags['anew'] === true },
        );
        await drain();
        const {
          indexed = 0,
          pending = 0,
          indexing = 0,
          failed = 0,
          chunks = 0,
        } = (await sources.counts()).get(one.id) ?? {};
        return { asked, indexed, waiting: pending + indexing, failed, passages: chunks };
      },
    },
    {
      name: 'svc knowledge sources',
      description: 'Lists the sources of a knowledge base, newest first.',
      args: [base],
      flags: {
        state: { ...text, enum: [...sourceStates], description: 'Only those in this state' },
        limit: { type: 'integer', minimum: 1, maximum: 10_000, description: 'Most of them' },
      },
      async run({ args: [id = ''], flags }) {
        const one = await baseOf(context, id);
        const state = flags['state'] as SourceState | undefined;
        const found = await sources.list(
          { baseId: one.id, ...(state !== undefined && { state }) },
          { limit: Number(flags['limit'] ?? 100), offset: 0 },
        );
        return found.map(({ id: source, kind, title, url, state: now, chunksDone, chunksTotal, message }) => ({
          id: source,
          kind,
          title,
          url,
          state: now,
          passages: `${String(chunksDone)}/${String(chunksTotal)}`,
          message,
        }));
      },
    },
    {
      name: 'svc knowledge remove',
      description: 'Deletes a source and its passages.',
      args: [{ name: 'source', description: 'Id of a source' }],
      async run({ args: [id = ''] }) {
        const source = /^\d{1,9}$/.test(id) ? await sources.get(Number(id)) : null;
        if (source === null) throw new Error(`There is no source ${id}.`);
        await sources.markDeleting({ parentId: source.id });
        await sources.markDeleting({ id: source.id });
        await drain();
        const left = await sources.get(source.id);
        return left === null ? `${source.title} is deleted.` : `${source.title} is being deleted. ${left.message}`;
      },
    },
  ];
}

async function add(to: AddSources, flags: Flags): Promise<Source | string> {
  if (typeof flags['file'] === 'string')
    return to.file({ name: basename(flags['file']), bytes: await readFile(flags['file']) });
  if (typeof flags['url'] === 'string') return to.address(flags['url']);
  if (typeof flags['sitemap'] === 'string') return to.sitemap(flags['sitemap']);
  if (typeof flags['post'] === 'number') return to.post(flags['post']);
  if (typeof flags['type'] === 'string') {
    const { added, all } = await to.postType(flags['type']);
    return `${String(added)} of ${String(all)} posts are new or changed.`;
  }
  if (typeof flags['question'] === 'string')
    return to.answer({ question: flags['question'], answer: string(flags, 'answer') });
  return to.text({ title: string(flags, 'title'), text: string(flags, 'text') });
}

async function baseOf(context: ServiceContext, id: string): Promise<KnowledgeBase> {
  const found = /^\d{1,9}$/.test(id) ? await knowledgeOf(context).bases.get(Number(id)) : null;
  if (found === null) throw new Error(`There is no knowledge base ${id}. svc knowledge list shows those there are.`);
  return found;
}

function string(flags: Flags, name: string): string {
  const value = flags[name];
  return typeof value === 'string' ? value : '';
}
