import type { AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import { contentOf } from '../content.ts';
import { defaultPostSettings, type PostSettings } from '../posts/post-settings.ts';
import { partLabels, partNames, type Template } from '../templates/template.ts';
import type { Item } from '../runs/item.ts';
import { emptyDraft, type ContentDraft } from '../write/draft.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { slugs, tabsOf } from './content-pages.ts';
import { spentWords } from './estimate-words.ts';
import { postFields } from './post-form.ts';
import { mostInputs, sourceOf, sources, type Source } from './read-inputs.ts';
import { templateFields } from './template-form.ts';

export interface Composing {
  /** As it was typed; left out: an empty form. */
  readonly request?: AdminRequest;
  readonly user: AdminRequest['user'];
  /** Template that the form was begun with. */
  readonly template: Template;
  /** Its settings as they were typed. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly post?: PostSettings;
  readonly errors?: FieldErrors;
  /** A text that was written and is to be edited. */
  readonly item?: Item | null;
}

const sourceLabels: Readonly<Record<Source, string>> = {
  topic: 'One topic',
  list: 'A list of topics',
  csv: 'CSV',
  feed: 'RSS or Atom feed',
  pages: 'Page addresses',
};

/** The data of `svc/content`. */
export async function composeView(
  context: ServiceContext,
  { request, user, template, settings, post = defaultPostSettings, errors = {}, item = null }: Composing,
): Promise<Record<string, unknown>> {
  const { host } = context;
  const typed = (name: string): string => (request ? readText(request, name) : '');
  const chosen = request ? sourceOf(request) : 'topic';
  const templates = (await contentOf(context).templates.list()).filter(({ kind }) => kind === 'write');
  const [fields, models, ready] = await Promise.all([
    templateFields(context, settings ?? { ...template }, errors),
    offeredModels(context),
    findReadyModel(context),
  ]);
  return {
    tabs: tabsOf(host, 'write'),
    ready: ready !== null,
    setupHref: host.admin.url('svc/setup'),
    mayManage: user.can('manage_options'),
    sandboxOffered:
      user.can('manage_options') &&
      !(await context.settings.sandbox.isOn()) &&
      (await context.settings.sandbox.isAvailable()),
    sources: sources.map((value) => ({ value, label: sourceLabels[value], checked: value === chosen })),
    typed: Object.fromEntries(
      ['topic', 'list', 'csv', 'feed_url', 'pages', 'keywords', 'instructions'].map((name) => [
        name,
        typed(name) || (name === 'topic' ? (item?.input.topic ?? '') : ''),
      ]),
    ),
    feedLimit: typed('feed_limit') || '10',
    readPages: request ? typed('read_pages') === '1' : true,
    mostInputs,
    errors,
    template: {
      value: template.id,
      options: templates.map(({ id, name }) => ({ value: id, label: name })),
      description: template.description,
      description_list: JSON.stringify(Object.fromEntries(templates.map(({ id, description }) => [id, description]))),
    },
    ...fields,
    post: await postFields(context, user, { settings: post, errors, several: false }),
    models:
      models.find(({ id }) => id === (settings?.['provider'] ?? template.provider))?.text ??
      models.flatMap(({ text }) => text).slice(0, 500),
    partLabels,
    draft: await draftFields(context, item?.draft ?? emptyDraft),
    item:
      item === null
        ? null
        : {
            uuid: item.uuid,
            status: item.status,
            message: item.message,
            spent: spentWords({
              tokens: item.draft.input_tokens + item.draft.output_tokens,
              cost: item.draft.cost,
              unpriced: item.draft.unpriced,
            }),
            postHref: item.postId === null ? null : await postHref(context, item.postId),
          },
    runsHref: host.admin.url(slugs.runs),
  };
}

async function draftFields({ host }: ServiceContext, draft: ContentDraft): Promise<Record<string, unknown>> {
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

/** Where a post is edited in the admin; null: it is gone. */
export async function postHref({ host }: Pick<ServiceContext, 'host'>, id: number): Promise<string | null> {
  const post = await host.content.posts.get(id);
  if (post === null) return null;
  const folder = post.type === 'post' ? 'posts' : post.type === 'page' ? 'pages' : `content/${post.type}`;
  return `${host.admin.url(`${folder}/edit`)}?id=${String(id)}`;
}
