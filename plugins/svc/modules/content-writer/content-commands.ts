import { type CliCommand, type User, invalidFields, withoutUndefined } from '#plugin-api';
import { toDollars } from '../../kit/dollars.ts';
import { writeTextJob } from './content-tables.ts';
import type { ContentWriter } from './content-writer.ts';
import { templateCommands } from './templates/template-commands.ts';
import { costOfDraft, emptyInput, type ContentInput } from './write/draft.ts';
import { writeOnce, type WriteOnceInit } from './write/write-once.ts';
import { parseLocalTime } from './pages/post-form.ts';
import { defaultPostSettings, saveChoices, type PostSettings } from './posts/post-settings.ts';
import { partNames, type PartName, type TemplateSettings } from './templates/template.ts';

const known = [
  'topic',
  'keywords',
  'instructions',
  'source',
  'source_url',
  'template',
  'provider',
  'model',
  'parts',
  'save',
  'type',
  'author',
  'category',
  'tags',
  'date',
];
type JobFields = Readonly<Record<string, unknown>>;

/** Parses the JSON of `svc content generate`. @throws RestError 400 with an error for each invalid member */
async function parseJob(writer: ContentWriter, given: unknown): Promise<WriteOnceInit> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error(
      'Pass the text to write as JSON, for example: svc content generate --json \'{"topic": "Brewing coffee in ' +
        'the mountains", "save": "draft"}\'',
    );
  const job = given as JobFields;
  const errors: Record<string, string> = {};
  for (const name of Object.keys(job))
    if (!known.includes(name)) errors[name] = `${name} is not a member. Use ${known.join(', ')}.`;
  for (const name of known)
    if (!['parts', 'tags', 'author'].includes(name) && job[name] !== undefined && typeof job[name] !== 'string')
      errors[name] = `${name} must be text.`;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  const input = readInput(job);
  if (input.topic === '' && input.source_url === '' && input.source === '')
    throw invalidFields({ topic: 'topic is missing. Add a topic or a source_url.' });
  const user = await findAuthor(writer, job['author']);
  return { input, user, template: await findTemplate(writer, job), settings: await readPostSettings(writer, job) };
}

function readInput(job: JobFields): ContentInput {
  const text = (name: string): string => (typeof job[name] === 'string' ? job[name].trim() : '');
  return {
    ...emptyInput,
    topic: text('topic'),
    keywords: text('keywords'),
    instructions: text('instructions'),
    source: text('source'),
    source_url: text('source_url'),
    is_typed: true,
  };
}

/** The user with this id or login; by default the first administrator, or null if there is none. */
async function findAuthor({ host: { users } }: ContentWriter, named: unknown): Promise<User | null> {
  if (named === undefined) return (await users.list({ role: 'administrator', limit: 1 }))[0] ?? null;
  const found =
    typeof named === 'number' ? await users.get(named) : typeof named === 'string' ? await users.find(named) : null;
  if (found === null) throw invalidFields({ author: 'author must be the id or login of a user.' });
  return found;
}

async function findTemplate(writer: ContentWriter, job: JobFields): Promise<TemplateSettings> {
  const { templates } = writer;
  const name = typeof job['template'] === 'string' ? job['template'] : 'article';
  const found = await templates.find(name);
  if (found === null)
    throw invalidFields({ template: `There is no template ${name}. See svc content templates list.` });
  if (found.kind !== 'write')
    throw invalidFields({ template: `The template ${found.name} rewrites posts. It works in automations only.` });
  const parts = job['parts'];
  if (parts !== undefined && (!Array.isArray(parts) || !parts.every((part) => partNames.includes(part as PartName))))
    throw invalidFields({ parts: `parts must be a list of ${partNames.join(', ')}.` });
  const chosen = parts as readonly PartName[] | undefined;
  const { id: _id, builtIn: _builtIn, ...settings } = found;
  return templates.check({
    ...settings,
    ...(typeof job['provider'] === 'string' && { provider: job['provider'], model: '' }),
    ...(typeof job['model'] === 'string' && { model: job['model'] }),
    ...(chosen && {
      parts: Object.fromEntries(
        partNames.map((part) => [part, { ...found.parts[part], enabled: chosen.includes(part) }]),
      ),
    }),
  });
}

async function readPostSettings({ host }: ContentWriter, job: JobFields): Promise<PostSettings> {
  const save = job['save'] ?? 'none';
  const choice = saveChoices.find((one) => one === save);
  if (choice === undefined) throw invalidFields({ save: `save must be one of ${saveChoices.join(', ')}.` });
  const { tags } = job;
  const date = typeof job['date'] === 'string' ? parseLocalTime(job['date'], await host.site.timezone()) : null;
  if (job['date'] !== undefined && date === null)
    throw invalidFields({ date: 'date must have the format 2026-05-15 12:00, in the time zone of the site.' });
  return {
    ...defaultPostSettings,
    save: choice,
    schedule_at: date,
    ...(typeof job['type'] === 'string' && { type: job['type'] }),
    ...(typeof job['category'] === 'string' && { category: job['category'] }),
    ...(Array.isArray(tags) && { tags: tags.map(String) }),
  };
}

/** `svc content generate`, `svc content templates list|get|set|delete|export|import`, `svc content work`. */
export function contentCommands(writer: ContentWriter): CliCommand[] {
  return [
    {
      name: 'svc content generate',
      description: 'Write a text and print it with its cost and the id of its post, if any.',
      flags: {
        json: {
          type: 'object',
          description:
            '{"topic" or "source_url", "keywords", "instructions", "source", "template", "provider", "model", "parts": ' +
            '["title", "content", ...], "save": none|draft|pending|publish|schedule, "type", "author", "category", ' +
            '"tags": [], "date": "2026-05-15 12:00"}; save defaults to none.',
        },
      },
      run: async ({ flags }) => {
        const job = await parseJob(writer, flags['json']);
        const { uuid, draft, html, post } = await writeOnce(writer, job);
        const cost = costOfDraft(draft);
        const { title, content, excerpt, meta_description, focus_keyword, tags, image, ai } = draft;
        return {
          id: uuid,
          ...withoutUndefined({ title, content }),
          ...(content !== undefined && { html }),
          ...withoutUndefined({ excerpt, meta_description, focus_keyword, tags: tags?.join(', ') }),
          ...(image && { image: image.url, image_id: image.media_id }),
          provider: ai?.provider ?? null,
          model: ai?.model ?? null,
          input_tokens: draft.input_tokens,
          output_tokens: draft.output_tokens,
          // Dollars.
          cost: toDollars(cost),
          post_id: post?.id ?? null,
          ...(post !== null && { post_status: post.status, post_url: await writer.host.content.permalink(post) }),
        };
      },
    },
    {
      name: 'svc content work',
      description: 'Process all batches until nothing is due.',
      run: async () => {
        await writer.host.jobs.drain(writeTextJob);
        return 'Nothing is due.';
      },
    },
    ...templateCommands(writer),
  ];
}
