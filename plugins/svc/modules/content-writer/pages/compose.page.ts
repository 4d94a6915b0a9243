import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { fieldErrorsOf, invalidFields } from '../../../kit/field-errors.ts';
import { readGroup, readText } from '../../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import { contentOf } from '../content.ts';
import { postErrors, type PostSettings } from '../posts/post-settings.ts';
import { saveText } from '../posts/save-text.ts';
import { builtInTemplates } from '../templates/built-in.ts';
import { settingsOf, type Template, type TemplateSettings } from '../templates/template.ts';
import { cleanTags } from '../write/clean-part.ts';
import { estimateContent } from '../write/estimate.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { composeView, postHref } from './compose-view.ts';
import { slugs } from './content-pages.ts';
import { estimateWords } from './estimate-words.ts';
import { readPostForm } from './post-form.ts';
import { readInputs, sourceOf } from './read-inputs.ts';
import { streamText } from './stream-text.ts';
import { fieldName, readTemplateForm } from './template-form.ts';

const template = 'svc/content';

/** The page "Content writer": what to write, how, what becomes of it; the stream and its editor; and the way to batches. */
export function composePage(context: ServiceContext): AdminPageBody {
  return {
    async render({ user, query }) {
      const uuid = typeof query['text'] === 'string' ? query['text'] : '';
      const found = uuid === '' ? null : await contentOf(context).runs.item(uuid);
      return {
        template,
        data: await composeView(context, {
          user,
          template: await templateOf(context, typeof query['template'] === 'string' ? query['template'] : ''),
          item: found?.userId === user.id ? found : null,
        }),
      };
    },
    actions: {
      use: async (request) => {
        const chosen = await templateOf(context, readText(request, 'template'));
        return {
          page: {
            template,
            data: await composeView(context, {
              request,
              user: request.user,
              template: chosen,
              post: await postOf(context, request),
            }),
          },
          data: { template: chosen },
        };
      },
      estimate: (request) => estimate(context, request),
      preview: async (request) => ({ data: { html: await markdownToHtml(readText(request, 'markdown')) } }),
      stream: (request) => stream(context, request),
      save: (request) => save(context, request),
      review: (request) => review(context, request),
      'save-template': (request) => saveTemplate(context, request),
      sandbox: async ({ user }) => {
        if (!user.can('manage_options'))
          throw new RestError({
            code: 'rest_forbidden',
            status: 403,
            message: 'Your account may not switch the sandbox on.',
          });
        await context.settings.sandbox.set(true);
        return { notice: { kind: 'success', text: 'The sandbox is on: texts are made up, and cost nothing.' } };
      },
    },
  };
}

async function templateOf(context: ServiceContext, id: string): Promise<Template> {
  const found = id === '' ? null : await contentOf(context).templates.find(id);
  return found?.kind === 'write' ? found : (builtInTemplates[0] as Template);
}

async function postOf({ host }: ServiceContext, request: AdminRequest): Promise<PostSettings> {
  return readPostForm(request.form, await host.site.timezone());
}

interface Typed {
  readonly base: Template;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly post: PostSettings;
}

/** Runs an action of the form; what is wrong is said at its fields, and the form comes back as it was typed. */
async function checkedForm(
  context: ServiceContext,
  request: AdminRequest,
  act: (typed: Typed) => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  const base = await templateOf(context, readText(request, 'template'));
  const typed: Typed = { base, settings: readTemplateForm(request.form, base), post: await postOf(context, request) };
  const result = await withFieldErrors(() => act(typed), {
    inputName: inputOf,
    page: async (errors) => ({
      template,
      data: await composeView(context, {
        request,
        user: request.user,
        template: base,
        settings: typed.settings,
        post: typed.post,
        errors,
      }),
    }),
  });
  return result;
}

function inputOf(name: string): string {
  return name in postNames ? `post[${name}]` : fieldName(name);
}

const postNames: Readonly<Record<string, true>> = {
  save: true,
  type: true,
  author_id: true,
  category: true,
  tags: true,
  schedule_at: true,
  interval_minutes: true,
};

/** The template's settings, valid. */
function checkedTemplate(context: ServiceContext, { base, settings }: Typed): Promise<TemplateSettings> {
  return contentOf(context).templates.check({
    ...settings,
    name: base.name,
    description: base.description,
    kind: 'write',
  });
}

function estimate(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(context, request, async (typed) => {
    const checked = await checkedTemplate(context, typed);
    const source = sourceOf(request);
    // A feed is not fetched at every change of the form.
    const { inputs } =
      source === 'feed' || source === 'csv'
        ? { inputs: [] }
        : await readInputs(context.host, request).catch((error: unknown) => {
            if (fieldErrorsOf(error)) return { inputs: [] };
            throw error;
          });
    const [first] = inputs;
    if (!first) return { data: { text: '' } };
    return { data: { text: estimateWords(await estimateContent(context, checked, first), inputs.length) } };
  });
}

function stream(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(context, request, async (typed) => {
    const checked = await checkedTemplate(context, typed);
    const { inputs } = await readInputs(context.host, request);
    const [input] = inputs;
    if (!input || inputs.length > 1)
      throw invalidFields({
        pages: 'One text at a time is written here. Use "Review and write in the background" for several.',
      });
    return {
      download: {
        name: 'text',
        type: 'text/event-stream; charset=utf-8',
        content: streamText(context, { template: checked, input, request }),
      },
    };
  });
}

function save(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(context, request, async ({ post: settings }) => {
    const fields = readGroup(request, 'draft');
    const text = (name: string): string =>
      typeof fields[name] === 'string' ? fields[name].replaceAll('\r\n', '\n').trim() : '';
    const errors = await postErrors(context.host, settings, request.user);
    if (settings.save === 'none')
      errors['save'] = 'Choose what the post is to become. Without a post the text is kept under "Texts and batches".';
    if (text('title') === '' && text('content') === '')
      errors['draft.title'] = 'There is nothing to save: write a title or a text.';
    if (Object.keys(errors).length > 0) throw invalidFields(errors);
    try {
      const saved = await saveText(context, {
        uuid: readText(request, 'uuid'),
        user: request.user,
        settings,
        withImage: readText(request, 'with_image') !== '0',
        edited: {
          title: text('title'),
          content: text('content'),
          ...(text('excerpt') !== '' && { excerpt: text('excerpt') }),
          ...(text('meta_description') !== '' && { meta_description: text('meta_description') }),
          ...(text('focus_keyword') !== '' && { focus_keyword: text('focus_keyword') }),
          ...(text('tags') !== '' && { tags: cleanTags(text('tags')) }),
        },
      });
      return {
        notice: {
          kind: 'success',
          text:
            saved.status === 'publish'
              ? 'The post is published.'
              : saved.status === 'future'
                ? 'The post is scheduled.'
                : 'The post is saved.',
        },
        ...(await redirectTo(context, saved.id)),
      };
    } catch (error) {
      const id =
        error instanceof RestError && error.code === 'rest_svc_text_saved'
          ? (error.data as { readonly post_id: number }).post_id
          : null;
      if (id === null) throw error;
      return {
        notice: { kind: 'info', text: 'This text was saved already. Here it is.' },
        ...(await redirectTo(context, id)),
      };
    }
  });
}

async function redirectTo(context: ServiceContext, id: number): Promise<{ redirect: string }> {
  const href = await postHref(context, id);
  return { redirect: href === null ? slugs.runs : href.slice(context.host.admin.url('').length).replace(/^\//, '') };
}

/** Everything that is to be written becomes a batch, which is looked over before it costs anything. */
function review(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(context, request, async (typed) => {
    const { host } = context;
    const settings = await checkedTemplate(context, typed);
    const errors = await postErrors(host, typed.post, request.user);
    if (Object.keys(errors).length > 0) throw invalidFields(errors);
    const { label, inputs, mapping, readPages } = await readInputs(host, request);
    const batch = await contentOf(context).runs.createBatch({
      label,
      userId: request.user.id,
      inputs,
      settings: { template: settings, post: typed.post, read_pages: readPages, mapping },
    });
    return { redirect: `${slugs.batch}?id=${String(batch.id)}` };
  });
}

function saveTemplate(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(context, request, async ({ base, settings }) => {
    const name = readText(request, 'template_name').trim();
    if (name === '') throw invalidFields({ template_name: 'Give the template a name.' });
    const made = await contentOf(context)
      .templates.create({
        ...settingsOf(settings as unknown as TemplateSettings),
        name,
        description: base.builtIn ? '' : base.description,
        kind: 'write',
      })
      .catch((error: unknown) => {
        const found = fieldErrorsOf(error);
        throw found?.['name'] === undefined
          ? error
          : invalidFields({ template_name: found['name'].replace(/^name: /, '') });
      });
    return {
      notice: { kind: 'success', text: `The template ${made.name} is saved. It is chosen from now on in this form.` },
      redirect: `${slugs.write}?template=${made.id}`,
    };
  });
}
