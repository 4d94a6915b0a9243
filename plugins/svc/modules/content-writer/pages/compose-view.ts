import type { AdminRequest, FieldErrors } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import { defaultPostSettings, type PostSettings } from '../posts/post-settings.ts';
import { partLabels, partNames, type Template } from '../templates/template.ts';
import type { Item } from '../runs/item.ts';
import { emptyDraft, type ContentDraft } from '../write/draft.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { slugs, contentTabs } from './content-pages.ts';
import { formatSpend } from '../write/estimate.ts';
import { postFields } from './post-form.ts';
import { maxInputs, readSourceKind, sources, type Source } from './read-inputs.ts';
import { templateFields } from './template-form.ts';

export interface Composing {
  /** The submitted form; without it, the form is empty. */
  readonly request?: AdminRequest;
  readonly user: AdminRequest['user'];
  /** The template that the form started with. */
  readonly template: Template;
  /** The template settings as typed. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly post?: PostSettings;
  readonly errors?: FieldErrors;
  /** A written text to edit. */
  readonly item?: Item | null;
}

const sourceLabels: Readonly<Record<Source, string>> = {
  topic: 'One topic',
  list: 'List of topics',
  csv: 'CSV',
  feed: 'RSS or Atom feed',
  pages: 'Page URLs',
};

/** The data of `svc/content`. */
export async function composeView(
  writer: ContentWriter,
  { request, user, template, settings, post = defaultPostSettings, errors = {}, item = null }: Composing,
): Promise<Record<string, unknown>> {
  const { host } = writer;
  const typed = (name: string): string => (request ? readText(request, name) : '');
  const chosen = request ? readSourceKind(request) : 'topic';
  const templates = (await writer.templates.list()).filter(({ kind }) => kind === 'write');
  const [fields, models, ready] = await Promise.all([
    templateFields(writer, settings ?? { ...template }, errors),
    offeredModels(writer),
    findReadyModel(writer),
  ]);
  return {
    tabs: contentTabs(host, 'write'),
    ready: ready !== null,
    setupHref: host.admin.url('svc/setup'),
    mayManage: user.can('manage_options'),
    sandboxOffered:
      user.can('manage_options') &&
      !(await writer.settings.sandbox.isOn()) &&
      (await writer.settings.sandbox.isAvailable()),
    sources: sources.map((value) => ({ value, label: sourceLabels[value], checked: value === chosen })),
    typed: Object.fromEntries(
      ['topic', 'list', 'csv', 'feed_url', 'pages', 'keywords', 'instructions'].map((name) => [
        name,
        typed(name) || (name === 'topic' ? (item?.input.topic ?? '') : ''),
      ]),
    ),
    feedLimit: typed('feed_limit') || '10',
    readPages: request ? typed('read_pages') === '1' : true,
    maxInputs,
    errors,
    template: {
      value: template.id,
      options: templates.map(({ id, name }) => ({ value: id, label: name })),
      description: template.description,
      description_list: JSON.stringify(Object.fromEntries(templates.map(({ id, description }) => [id, description]))),
    },
    ...fields,
    post: await postFields(writer, user, { settings: post, errors, several: false }),
    models:
      models.find(({ id }) => id === (settings?.['provider'] ?? template.provider))?.text ??
      models.flatMap(({ text }) => text).slice(0, 500),
    partLabels,
    draft: await draftFields(writer, item?.draft ?? emptyDraft),
    item:
      item === null
        ? null
        : {
            uuid: item.uuid,
            status: item.status,
            message: item.message,
            spent: formatSpend({
              tokens: item.draft.input_tokens + item.draft.output_tokens,
              cost: item.draft.cost,
              unpriced: item.draft.unpriced,
            }),
            postHref: item.postId === null ? null : await findEditHref(writer, item.postId),
          },
    runsHref: host.admin.url(slugs.runs),
  };
}

async function draftFields({ host }: ContentWriter, draft: ContentDraft): Promise<Record<string, unknown>> {
  return {
    ...Object.fromEntries(
      partNames
        .filter((part) => part !== 'image')
        .map((part) => [part, part === 'tags' ? (draft.tags ?? []).join(', ') : (draft[part] ?? '')]),
    ),
    // Cleaned HTML.
    html: host.views.safe(draft.content === undefined ? '' : await markdownToHtml(draft.content)),
    image: draft.image?.url ?? '',
    imageAlt: draft.image?.alt ?? '',
  };
}

/** The URL of a post's editor; null if the post is deleted. */
export async function findEditHref({ host }: Pick<ContentWriter, 'host'>, id: number): Promise<string | null> {
  const post = await host.content.posts.get(id);
  if (post === null) return null;
  const folder = post.type === 'post' ? 'posts' : post.type === 'page' ? 'pages' : `content/${post.type}`;
  return `${host.admin.url(`${folder}/edit`)}?id=${String(id)}`;
}
