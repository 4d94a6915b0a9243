import { RestError, isUrl, type User } from '#plugin-api';
import type { AutomationItem, AutomationResult } from '../../../kit/automation-task.ts';
import type { ServiceContext } from '../../../wiring.ts';
import { contentOf } from '../content.ts';
import type { ContentGeneration } from '../hooks.ts';
import { guessMapping, mapRow } from '../pages/read-inputs.ts';
import { defaultPostSettings, postErrors, type PostSettings, type SaveChoice } from '../posts/post-settings.ts';
import { preparePost } from '../posts/save-post.ts';
import type { Template, TemplateKind } from '../templates/template.ts';
import { emitGenerated } from '../write/content-event.ts';
import { emptyInput, type ContentInput } from '../write/draft.ts';
import { readSource } from '../write/read-source.ts';

const origin = 'automated_task_content_writing';

/** What one task of `content_writing` does for one item; the declaration is in `task-types.ts`. */
export async function runContentWriting(context: ServiceContext, item: AutomationItem): Promise<AutomationResult> {
  const { host } = context;
  const user = await authorOf(context, item);
  const template = await templateOf(context, item.settings['template'], 'write');
  const settings = postSettingsOf(item.settings);
  const input = await inputOf(context, item);
  const generation: ContentGeneration = { key: item.key, origin, input, user, postId: null };
  const draft = await contentOf(context).generate({
    template,
    generation,
    user,
    usage: item.origin,
    signal: item.signal,
    imageForm: 'b64_json',
  });
  const prepared = await preparePost(host, { draft, generation, settings, position: 0, user });
  return {
    message: `“${draft.title ?? input.topic}” is written.`,
    ...(draft.ai !== null && { ai: draft.ai }),
    commit: async () => {
      const post = await prepared.write();
      await emitGenerated(host, { draft, html: prepared.html, generation, post, taskId: item.task.id });
      return { postId: post.id };
    },
  };
}

/** Sentences about settings that the schema allows. */
export async function contentWritingErrors(
  context: ServiceContext,
  settings: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const errors = await templateErrors(context, settings['template'], 'write');
  const post = await postErrors(context.host, postSettingsOf(settings), null);
  return {
    ...errors,
    ...(post['type'] !== undefined && { post_type: post['type'] }),
    ...(post['tags'] !== undefined && { tags: post['tags'] }),
    ...(post['category'] !== undefined && { category: post['category'] }),
  };
}

function postSettingsOf(settings: Readonly<Record<string, unknown>>): PostSettings {
  const text = (name: string, otherwise: string): string =>
    typeof settings[name] === 'string' && settings[name] !== '' ? settings[name] : otherwise;
  return {
    ...defaultPostSettings,
    save: text('save', 'draft') as SaveChoice,
    type: text('post_type', 'post'),
    category: text('category', ''),
    tags: text('tags', '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  };
}

/** A feed's entry, a row, or a line that is a topic or an address. */
async function inputOf(
  context: ServiceContext,
  { target, input, settings, signal }: AutomationItem,
): Promise<ContentInput> {
  const told = Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );
  const base = {
    ...emptyInput,
    keywords: textOf(settings['keywords']),
    instructions: textOf(settings['instructions']),
  };
  const isEntry = Object.hasOwn(told, 'summary') && Object.hasOwn(told, 'url');
  const found = isEntry
    ? { ...base, topic: told['title'] || target, source: told['summary'] ?? '', source_url: told['url'] ?? '' }
    : fromLine(told, target, base);
  if (found.source_url === '' || (isEntry && settings['read_page'] !== true)) return found;
  const { title, text } = await readSource(context.host, found.source_url, { signal });
  return { ...found, topic: found.topic || title, source: text };
}

function fromLine(cells: Readonly<Record<string, string>>, target: string, base: ContentInput): ContentInput {
  const columns = Object.keys(cells);
  const row = columns.length > 0 ? mapRow(cells, guessMapping(columns), base) : base;
  const topic = row.topic || target;
  return isUrl(topic) ? { ...row, topic: '', source_url: topic } : { ...row, topic };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whose the posts are, and with whose rights they are made: the task's author; the first administrator where it has none, as one that was made by a command. */
export async function authorOf({ host }: ServiceContext, { task }: Pick<AutomationItem, 'task'>): Promise<User> {
  const [id = 0] = task.authorId === 0 ? await host.users.ids({ role: 'administrator' }) : [task.authorId];
  const user = await host.users.get(id);
  if (user === null)
    throw new RestError({
      code: 'rest_user_invalid_id',
      status: 400,
      message: 'The user whose task it is is gone. Save the task again to make it yours.',
    });
  return user;
}

export async function templateOf(context: ServiceContext, named: unknown, kind: TemplateKind): Promise<Template> {
  const errors = await templateErrors(context, named, kind);
  const name = nameOf(named, kind);
  const found = await contentOf(context).templates.find(name);
  if (found === null || errors['template'] !== undefined)
    throw new RestError({
      code: 'rest_svc_template_not_found',
      status: 400,
      message: errors['template'] ?? `There is no template ${name}.`,
    });
  return found;
}

export async function templateErrors(
  context: ServiceContext,
  named: unknown,
  kind: TemplateKind,
): Promise<Record<string, string>> {
  const name = nameOf(named, kind);
  const all = await contentOf(context).templates.list();
  const found = await contentOf(context).templates.find(name);
  if (found?.kind === kind) return {};
  const fitting = all.filter((one) => one.kind === kind).map((one) => one.name);
  return {
    template:
      found === null
        ? `There is no template ${name}. There are ${fitting.join(', ')}.`
        : `The template ${found.name} is made to ${found.kind === 'write' ? 'write something new' : 'rewrite posts'}. Choose one of ${fitting.join(', ')}.`,
  };
}

function nameOf(named: unknown, kind: TemplateKind): string {
  return typeof named === 'string' && named.trim() !== '' ? named.trim() : kind === 'write' ? 'article' : 'rewrite';
}
