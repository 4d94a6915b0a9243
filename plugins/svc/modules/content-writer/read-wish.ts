import type { User } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { invalidFields } from '../../kit/field-errors.ts';
import { contentOf } from './content.ts';
import { momentOf } from './pages/post-form.ts';
import { defaultPostSettings, saveChoices, type PostSettings } from './posts/post-settings.ts';
import { partNames, type PartName, type TemplateSettings } from './templates/template.ts';
import { emptyInput, type ContentInput } from './write/draft.ts';
import type { WriteOnceInit } from './write/write-once.ts';

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
type Wish = Readonly<Record<string, unknown>>;

/** What a command asks to be written. @throws RestError 400 with a sentence for every bad member */
export async function readWish(context: ServiceContext, given: unknown): Promise<WriteOnceInit> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error(
      'Say what to write as JSON, for example: svc content generate --json \'{"topic": "Brewing coffee in the mountains", "save": "draft"}\'',
    );
  const wish = given as Wish;
  const errors: Record<string, string> = {};
  for (const name of Object.keys(wish))
    if (!known.includes(name)) errors[name] = `${name} is not known; there are ${known.join(', ')}.`;
  for (const name of known)
    if (!['parts', 'tags', 'author'].includes(name) && wish[name] !== undefined && typeof wish[name] !== 'string')
      errors[name] = `${name} must be a text.`;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  const input = inputOf(wish);
  if (input.topic === '' && input.source_url === '' && input.source === '')
    throw invalidFields({ topic: 'topic is missing: say what the text is to be about, or name a source_url.' });
  const user = await authorOf(context, wish['author']);
  return { input, user, template: await templateOf(context, wish), settings: await postOf(context, wish) };
}

function inputOf(wish: Wish): ContentInput {
  const text = (name: string): string => (typeof wish[name] === 'string' ? wish[name].trim() : '');
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

/** Whoever is named by id or login; else the first administrator; else nobody. */
async function authorOf({ host: { users } }: ServiceContext, named: unknown): Promise<User | null> {
  if (named === undefined) return (await users.list({ role: 'administrator', limit: 1 }))[0] ?? null;
  const found =
    typeof named === 'number' ? await users.get(named) : typeof named === 'string' ? await users.find(named) : null;
  if (found === null) throw invalidFields({ author: 'author must be the id or login of a user.' });
  return found;
}

async function templateOf(context: ServiceContext, wish: Wish): Promise<TemplateSettings> {
  const { templates } = contentOf(context);
  const name = typeof wish['template'] === 'string' ? wish['template'] : 'article';
  const found = await templates.find(name);
  if (found === null)
    throw invalidFields({ template: `There is no template ${name}. See svc content templates list.` });
  if (found.kind !== 'write')
    throw invalidFields({ template: `The template ${found.name} rewrites posts; automations use it.` });
  const parts = wish['parts'];
  if (parts !== undefined && (!Array.isArray(parts) || !parts.every((part) => partNames.includes(part as PartName))))
    throw invalidFields({ parts: `parts must be a list of ${partNames.join(', ')}.` });
  const chosen = parts as readonly PartName[] | undefined;
  const { id: _id, builtIn: _builtIn, ...settings } = found;
  return templates.check({
    ...settings,
    ...(typeof wish['provider'] === 'string' && { provider: wish['provider'], model: '' }),
    ...(typeof wish['model'] === 'string' && { model: wish['model'] }),
    ...(chosen && {
      parts: Object.fromEntries(
        partNames.map((part) => [part, { ...found.parts[part], enabled: chosen.includes(part) }]),
      ),
    }),
  });
}

async function postOf({ host }: ServiceContext, wish: Wish): Promise<PostSettings> {
  const save = wish['save'] ?? 'none';
  const choice = saveChoices.find((one) => one === save);
  if (choice === undefined) throw invalidFields({ save: `save must be one of ${saveChoices.join(', ')}.` });
  const { tags } = wish;
  const date = typeof wish['date'] === 'string' ? momentOf(wish['date'], await host.site.timezone()) : null;
  if (wish['date'] !== undefined && date === null)
    throw invalidFields({ date: 'date must be written like 2026-05-15 12:00, on the clock of the site.' });
  return {
    ...defaultPostSettings,
    save: choice,
    schedule_at: date,
    ...(typeof wish['type'] === 'string' && { type: wish['type'] }),
    ...(typeof wish['category'] === 'string' && { category: wish['category'] }),
    ...(Array.isArray(tags) && { tags: tags.map(String) }),
  };
}
