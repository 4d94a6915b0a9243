import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseId } from '#plugin-api';
import type { CliCommand } from '#plugin-api';
import { defaultChunks, type KnowledgeBase } from './bases/base-store.ts';
import { createBase } from './bases/create-base.ts';
import type { KnowledgeParts } from './knowledge.ts';
import { searchKnowledge } from './find-knowledge.ts';
import { addSourcesTo, type AddSources } from './sources/add-source.ts';
import { sourceStates, type Source, type SourceState } from './sources/source.ts';
import { answerQuestion } from './questions/unanswered-questions.ts';
import type { QuestionState } from './questions/question-store.ts';

type Flags = Readonly<Record<string, unknown>>;

const text = { type: 'string' } as const;
const base = { name: 'base', description: 'Id of a knowledge base' } as const;

/** `svc knowledge list|create|delete|add|index|sources|remove|search|questions|answer`. */
export function knowledgeCommands(parts: KnowledgeParts): readonly CliCommand[] {
  return [...baseCommands(parts), ...sourceCommands(parts), ...questionCommands(parts, (id) => findBase(parts, id))];
}

function baseCommands(parts: KnowledgeParts): readonly CliCommand[] {
  const { bases, sources } = parts;
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
      description: 'Creates a knowledge base, and its index or collection if it does not exist.',
      args: [{ name: 'name', description: 'Name of the knowledge base' }],
      flags: {
        store: { ...text, description: 'Vector store: local, pinecone, qdrant or chroma; default: local' },
        target: { ...text, description: 'Name of its index or collection' },
        namespace: { ...text, description: 'For pinecone and local' },
        provider: { ...text, description: 'Embedding provider' },
        model: { ...text, description: "Embedding model; default: the one in the provider's settings" },
        chunk: { type: 'integer', default: defaultChunks.chunkTokens, description: 'Maximum tokens of a passage' },
        overlap: {
          type: 'integer',
          default: defaultChunks.overlapTokens,
          description: 'Overlap between passages (tokens)',
        },
      },
      async run({ args: [name = ''], flags }) {
        const { base: created, createdTarget } = await createBase(parts, {
          name,
          store: string(flags, 'store'),
          target: string(flags, 'target'),
          namespace: string(flags, 'namespace'),
          embeddingProvider: string(flags, 'provider'),
          embeddingModel: string(flags, 'model'),
          chunkTokens: Number(flags['chunk']),
          overlapTokens: Number(flags['overlap']),
        });
        return {
          id: created.id,
          name: created.name,
          store: created.store,
          target: created.target,
          made_target: createdTarget,
          embedding: `${created.embeddingProvider}/${created.embeddingModel}`,
        };
      },
    },
    {
      name: 'svc knowledge delete',
      description: 'Deletes a knowledge base with its passages.',
      args: [base],
      flags: {
        target: { type: 'boolean', description: 'Also delete its index or collection' },
        forget: { type: 'boolean', description: 'Delete only the records here; the vector store no longer exists' },
      },
      async run({ args: [id = ''], flags }) {
        const knowledgeBase = await findBase(parts, id);
        if (flags['forget'] === true) {
          await bases.forget(knowledgeBase.id);
          return `${knowledgeBase.name} is deleted here. Its vector store was not changed.`;
        }
        await bases.markDeleting(knowledgeBase.id, flags['target'] === true);
        await sources.markDeleting({ baseId: knowledgeBase.id });
        await parts.drain();
        return (await bases.get(knowledgeBase.id)) === null
          ? `${knowledgeBase.name} is deleted.`
          : `${knowledgeBase.name} is being deleted.`;
      },
    },
    {
      name: 'svc knowledge search',
      description: 'Shows the passages of a knowledge base that match a question best.',
      args: [base, { name: 'question', description: 'The question', rest: true }],
      flags: {
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 5, description: 'Maximum number of passages' },
      },
      run: async ({ args: [id = '', ...rest], flags }) =>
        searchKnowledge(parts, await findBase(parts, id), {
          text: rest.join(' '),
          limit: Number(flags['limit']),
        }),
    },
  ];
}

function sourceCommands(parts: KnowledgeParts): readonly CliCommand[] {
  const { sources, drain } = parts;
  return [
    {
      name: 'svc knowledge add',
      description:
        'Adds sources to a knowledge base: --file, --url, --sitemap, --post, --type, --text with --title, or --question with --answer.',
      args: [base],
      flags: {
        file: { ...text, description: 'Path of a file, such as docx, xlsx, pdf, md or csv' },
        url: { ...text, description: 'URL of a page' },
        sitemap: { ...text, description: 'URL of a sitemap' },
        post: { type: 'integer', description: 'Id of a post' },
        type: { ...text, description: 'Post type; adds all new and changed posts' },
        text: { ...text, description: 'A text' },
        title: { ...text, description: 'Its title' },
        question: { ...text, description: 'A question' },
        answer: { ...text, description: 'Its answer' },
      },
      async run({ args: [id = ''], flags }) {
        const added = await add(addSourcesTo(parts, await findBase(parts, id)), flags);
        return typeof added === 'string'
          ? added
          : { id: added.id, title: added.title, kind: added.kind, state: added.state };
      },
    },
    {
      name: 'svc knowledge index',
      description: 'Checks all sources of a knowledge base for updates, and indexes new and changed ones on this node.',
      args: [base],
      flags: {
        anew: { type: 'boolean', description: 'Also index unchanged sources' },
        source: { type: 'integer', description: 'Only this source' },
      },
      async run({ args: [id = ''], flags }) {
        const knowledgeBase = await findBase(parts, id);
        const asked = await sources.requeue(
          { baseId: knowledgeBase.id, ...(typeof flags['source'] === 'number' && { id: flags['source'] }) },
          { force: flags['anew'] === true },
        );
        await drain();
        const {
          indexed = 0,
          pending = 0,
          indexing = 0,
          failed = 0,
          chunks = 0,
        } = (await sources.counts()).get(knowledgeBase.id) ?? {};
        return { asked, indexed, waiting: pending + indexing, failed, passages: chunks };
      },
    },
    {
      name: 'svc knowledge sources',
      description: 'Lists the sources of a knowledge base, newest first.',
      args: [base],
      flags: {
        state: { ...text, enum: [...sourceStates], description: 'Only sources in this state' },
        limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 100, description: 'Maximum number of rows' },
      },
      async run({ args: [id = ''], flags }) {
        const knowledgeBase = await findBase(parts, id);
        const state = flags['state'] as SourceState | undefined;
        const found = await sources.list(
          { baseId: knowledgeBase.id, ...(state !== undefined && { state }) },
          { limit: Number(flags['limit']), offset: 0 },
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
        const source = await sources.get(parseId(id));
        if (source === null) throw new Error(`There is no source ${id}. List them with svc knowledge sources.`);
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

async function findBase(parts: KnowledgeParts, id: string): Promise<KnowledgeBase> {
  const found = await parts.bases.get(parseId(id));
  if (found === null) throw new Error(`There is no knowledge base ${id}. List them with svc knowledge list.`);
  return found;
}

function string(flags: Flags, name: string): string {
  const value = flags[name];
  return typeof value === 'string' ? value : '';
}

/** `svc knowledge questions` and `svc knowledge answer`. */
function questionCommands(
  parts: KnowledgeParts,
  findBase: (id: string) => Promise<KnowledgeBase>,
): readonly CliCommand[] {
  const { questions } = parts;
  return [
    {
      name: 'svc knowledge questions',
      description: 'Lists questions without an answer, or with a badly rated one.',
      flags: {
        state: {
          type: 'string',
          enum: ['open', 'answered', 'dismissed'],
          default: 'open',
          description: 'State of the questions',
        },
        limit: { type: 'integer', minimum: 1, maximum: 5_000, default: 100, description: 'Maximum number of rows' },
      },
      async run({ flags }) {
        const found = await questions.list(
          { state: flags['state'] as QuestionState },
          { limit: Number(flags['limit']), offset: 0 },
        );
        return found.map(({ id, baseId, question, reason, bestScore, asked, askedOf }) => ({
          id,
          base: baseId,
          question,
          reason,
          best_score: bestScore,
          asked,
          asked_of: askedOf,
        }));
      },
    },
    {
      name: 'svc knowledge answer',
      description: 'Adds the answer to a question to a knowledge base.',
      args: [
        { name: 'question', description: 'Id of the question' },
        { name: 'answer', description: 'The answer', rest: true },
      ],
      flags: { base: { type: 'string', description: 'Id of the knowledge base; default: the one of the question' } },
      async run({ args: [id = '', ...rest], flags }) {
        const question = await questions.get(parseId(id));
        if (question === null) throw new Error(`There is no question ${id}.`);
        const base = typeof flags['base'] === 'string' ? await findBase(flags['base']) : null;
        const { base: taught, source } = await answerQuestion(parts, question, {
          answer: rest.join(' '),
          baseId: base?.id ?? 0,
        });
        await parts.drain();
        return `${taught.name} has the answer now (source ${String(source.id)}).`;
      },
    },
  ];
}
