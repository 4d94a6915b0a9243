import { requireFound, isUrl, restError, type User } from '#plugin-api';
import type { AutomationItem, AutomationResult } from '../../../kit/automation-task.ts';
import type { ContentWriter } from '../content-writer.ts';
import type { ContentGeneration } from '../hooks.ts';
import { guessMapping, mapRow, readTopicLine } from '../pages/read-inputs.ts';
import { defaultPostSettings, postErrors, type PostSettings, type SaveChoice } from '../posts/post-settings.ts';
import { preparePost, editablePost, prepareRewrite } from '../posts/save-post.ts';
import type { Template, TemplateKind } from '../templates/template.ts';
import { emitGenerated } from '../content-generated.event.ts';
import { emptyInput, type ContentInput } from '../write/draft.ts';
import { readSource } from '../write/read-source.ts';
import { metaKeys } from '../posts/post-meta.ts';
import type { Present } from '../write/generate-content.ts';

const origin = 'automated_task_content_writing';

/** Runs one item of a `content_writing` task; `task-types.ts` declares the type. */
export async function runContentWriting(writer: ContentWriter, item: AutomationItem): Promise<AutomationResult> {
  const { host } = writer;
  const user = await findAuthor(writer, item);
  const template = await findTemplate(writer, item.settings['template'], 'write');
  const settings = postSettingsOf(item.settings);
  const input = await readInput(writer, item);
  const generation: ContentGeneration = { key: item.key, origin, input, user, postId: null };
  const draft = await writer.generate({
    template,
    generation,
    user,
    usage: item.origin,
    signal: item.signal,
    imageForm: 'b64_json',
  });
  const prepared = await preparePost(host, { draft, generation, settings, position: 0, user });
  return {
    message: `“${draft.title ?? input.topic}” written.`,
    ...(draft.ai !== null && { ai: draft.ai }),
    commit: async () => {
      const post = await prepared.write();
      await emitGenerated(host, { draft, html: prepared.html, generation, post, taskId: item.task.id });
      return { postId: post.id };
    },
  };
}

/** Validates what the schema cannot express. */
export async function contentWritingErrors(
  writer: ContentWriter,
  settings: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const errors = await templateErrors(writer, settings['template'], 'write');
  const post = await postErrors(writer.host, postSettingsOf(settings), null);
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

/** The input of a feed entry, a row, or a line with a topic or URL. */
async function readInput(
  writer: ContentWriter,
  { target, input, settings, signal }: AutomationItem,
): Promise<ContentInput> {
  const fields = Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );
  const base = {
    ...emptyInput,
    keywords: textOf(settings['keywords']),
    instructions: textOf(settings['instructions']),
  };
  const isEntry = Object.hasOwn(fields, 'summary') && Object.hasOwn(fields, 'url');
  const found = isEntry
    ? { ...base, topic: fields['title'] || target, source: fields['summary'] ?? '', source_url: fields['url'] ?? '' }
    : fromLine(fields, target, base);
  if (found.source_url === '' || (isEntry && settings['read_page'] !== true)) return found;
  const { title, text } = await readSource(writer.host, found.source_url, { signal });
  return { ...found, topic: found.topic || title, source: text };
}

function fromLine(cells: Readonly<Record<string, string>>, target: string, base: ContentInput): ContentInput {
  const columns = Object.keys(cells);
  const row = columns.length > 0 ? mapRow(cells, guessMapping(columns), base) : readTopicLine(target, base);
  const topic = row.topic || target;
  return isUrl(topic) ? { ...row, topic: '', source_url: topic } : { ...row, topic };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The author of the posts, whose rights apply: the task's author, or the first administrator if it has none. */
export async function findAuthor({ host }: ContentWriter, { task }: Pick<AutomationItem, 'task'>): Promise<User> {
  const administrators = task.authorId === 0 ? await host.users.ids({ role: 'administrator' }) : [];
  const [id = 0] = task.authorId === 0 ? administrators.sort((one, other) => one - other) : [task.authorId];
  return requireFound(await host.users.get(id), {
    code: 'rest_user_invalid_id',
    status: 400,
    message: 'The author of this automation was deleted. Edit the automation and choose another author.',
  });
}

export async function findTemplate(writer: ContentWriter, named: unknown, kind: TemplateKind): Promise<Template> {
  const errors = await templateErrors(writer, named, kind);
  const name = nameOf(named, kind);
  const found = await writer.templates.find(name);
  if (found === null || errors['template'] !== undefined)
    throw restError(400, 'rest_svc_template_not_found', errors['template'] ?? `There is no template ${name}.`);
  return found;
}

export async function templateErrors(
  writer: ContentWriter,
  named: unknown,
  kind: TemplateKind,
): Promise<Record<string, string>> {
  const name = nameOf(named, kind);
  const all = await writer.templates.list();
  const found = await writer.templates.find(name);
  if (found?.kind === kind) return {};
  const fitting = all.filter((one) => one.kind === kind).map((one) => one.name);
  return {
    template:
      found === null
        ? `There is no template ${name}. Choose one of ${fitting.join(', ')}.`
        : `The template ${found.name} can only ${found.kind === 'write' ? 'write new texts' : 'rewrite posts'}. ` +
          `Choose one of ${fitting.join(', ')}.`,
  };
}

function nameOf(named: unknown, kind: TemplateKind): string {
  return typeof named === 'string' && named.trim() !== '' ? named.trim() : kind === 'write' ? 'article' : 'rewrite';
}

/** Runs one item of a `post_rewriting` task: rewrites the enabled sections of a post and keeps all others. */
export async function runPostRewriting(writer: ContentWriter, item: AutomationItem): Promise<AutomationResult> {
  const { host } = writer;
  const id = Number(item.input['post_id'] ?? item.target);
  if (!Number.isInteger(id) || id < 1) throw restError(400, 'rest_post_invalid_id', `${item.target} is not a post id.`);
  const user = await findAuthor(writer, item);
  const post = await editablePost(host, id, user);
  if (post.password !== '')
    throw restError(
      403,
      'rest_cannot_edit',
      `The post ${String(id)} is protected by a password, so its text is not sent to a provider. Remove the password first.`,
    );
  const template = await findTemplate(writer, item.settings['template'], 'rewrite');
  const text = (name: string): string => (typeof item.settings[name] === 'string' ? item.settings[name] : '');
  const generation: ContentGeneration = {
    key: item.key,
    origin: 'automated_task_content_writing',
    user,
    postId: id,
    input: {
      ...emptyInput,
      topic: post.title,
      keywords: text('keywords'),
      instructions: text('instructions'),
      source_url: await host.content.permalink(post),
    },
  };
  const meta = await host.content.meta.all(id);
  const one = (key: string): string => (typeof meta[key]?.[0] === 'string' ? meta[key][0] : '');
  const present: Present = {
    title: post.title,
    content: post.content,
    excerpt: post.excerpt,
    meta_description: one(metaKeys.description),
    focus_keyword: one(metaKeys.keyword),
    tags: (meta[metaKeys.tags] ?? []).filter((tag): tag is string => typeof tag === 'string'),
  };
  const draft = await writer.generate({
    template,
    generation,
    user,
    present,
    usage: item.origin,
    signal: item.signal,
    imageForm: 'b64_json',
  });
  const prepared = await prepareRewrite(host, { draft, generation, user }, id);
  return {
    message: `“${draft.title ?? post.title}” rewritten.`,
    ...(draft.ai !== null && { ai: draft.ai }),
    commit: async () => {
      const before = await host.content.posts.get(id);
      // Edits made during the generation must not be lost.
      if (before?.title !== post.title || before.content !== post.content || before.excerpt !== post.excerpt)
        throw restError(
          409,
          'rest_svc_post_changed',
          'The post was edited while it was being rewritten. Nothing was overwritten. Retry the item.',
        );
      const saved = await prepared.write();
      await emitGenerated(host, { draft, html: prepared.html, generation, post: saved, taskId: item.task.id });
      return { postId: saved.id };
    },
  };
}
