import { RestError, withNotice, fieldErrorsOf, invalidFields, withFieldErrors, restError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { readGroup, readText } from '../../../admin-ui/form-values.ts';
import { postErrors, type PostSettings } from '../posts/post-settings.ts';
import { saveText } from '../posts/save-text.ts';
import { builtInTemplates } from '../templates/built-in.ts';
import { pickSettings, type Template, type TemplateSettings } from '../templates/template.ts';
import { cleanTags } from '../write/clean-part.ts';
import { estimateContent } from '../write/estimate.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { composeView, findEditHref } from './compose-view.ts';
import { slugs } from './content-pages.ts';
import { formatEstimate } from '../write/estimate.ts';
import { readPostForm } from './post-form.ts';
import { readInputs, readSourceKind } from './read-inputs.ts';
import { streamText } from './stream-text.ts';
import { fieldName, readTemplateForm } from './template-form.ts';

const template = 'svc/content';

/** The page "Content writer": source, template, output, the streamed text and its editor. */
export function createPage(writer: ContentWriter): AdminPageBody {
  return {
    async render({ user, query }) {
      const uuid = typeof query['text'] === 'string' ? query['text'] : '';
      const found = uuid === '' ? null : await writer.runs.item(uuid);
      return {
        template,
        data: await composeView(writer, {
          user,
          template: await findTemplate(writer, typeof query['template'] === 'string' ? query['template'] : ''),
          item: found?.userId === user.id ? found : null,
        }),
      };
    },
    actions: {
      use: async (request) => {
        const chosen = await findTemplate(writer, readText(request, 'template'));
        return {
          page: {
            template,
            data: await composeView(writer, {
              request,
              user: request.user,
              template: chosen,
              post: await readPost(writer, request),
            }),
          },
          data: { template: chosen },
        };
      },
      estimate: (request) => estimate(writer, request),
      preview: async (request) => ({
        readOnly: true,
        data: { html: await markdownToHtml(readText(request, 'markdown')) },
      }),
      stream: (request) => stream(writer, request),
      save: (request) => save(writer, request),
      review: (request) => review(writer, request),
      'save-template': (request) => saveTemplate(writer, request),
      sandbox: async ({ user }) => {
        if (!user.can('manage_options'))
          throw restError(403, 'rest_forbidden', 'Your account is not allowed to turn on the sandbox.');
        await writer.settings.sandbox.set(true);
        return withNotice('success', 'The sandbox is on: texts are generated locally and cost nothing.');
      },
    },
  };
}

async function findTemplate(writer: ContentWriter, id: string): Promise<Template> {
  const found = id === '' ? null : await writer.templates.find(id);
  return found?.kind === 'write' ? found : (builtInTemplates[0] as Template);
}

async function readPost({ host }: ContentWriter, request: AdminRequest): Promise<PostSettings> {
  return readPostForm(request.form, await host.site.timezone());
}

interface Typed {
  readonly base: Template;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly post: PostSettings;
}

/** Runs an action of the form. With errors, the form is shown again as typed, with the errors at its fields. */
async function checkedForm(
  writer: ContentWriter,
  request: AdminRequest,
  act: (typed: Typed) => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  const base = await findTemplate(writer, readText(request, 'template'));
  const typed: Typed = { base, settings: readTemplateForm(request.form, base), post: await readPost(writer, request) };
  const result = await withFieldErrors(
    () => act(typed),
    async (errors) => ({
      template,
      data: await composeView(writer, {
        request,
        user: request.user,
        template: base,
        settings: typed.settings,
        post: typed.post,
        errors,
      }),
    }),
    inputNameOf,
  );
  return result;
}

function inputNameOf(name: string): string {
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

/** Validates the template settings. */
function checkedTemplate(writer: ContentWriter, { base, settings }: Typed): Promise<TemplateSettings> {
  return writer.templates.check({
    ...settings,
    name: base.name,
    description: base.description,
    kind: 'write',
  });
}

function estimate(writer: ContentWriter, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(writer, request, async (typed) => {
    const checked = await checkedTemplate(writer, typed);
    const source = readSourceKind(request);
    // Feeds and CSV files are not read with every change of the form.
    const { inputs } =
      source === 'feed' || source === 'csv'
        ? { inputs: [] }
        : await readInputs(writer.host, request).catch((error: unknown) => {
            if (fieldErrorsOf(error)) return { inputs: [] };
            throw error;
          });
    const [first] = inputs;
    if (!first) return { readOnly: true, data: { text: '' } };
    return {
      readOnly: true,
      data: { text: formatEstimate(await estimateContent(writer, checked, first), inputs.length) },
    };
  });
}

function stream(writer: ContentWriter, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(writer, request, async (typed) => {
    const checked = await checkedTemplate(writer, typed);
    const { inputs } = await readInputs(writer.host, request);
    const [input] = inputs;
    if (!input || inputs.length > 1)
      throw invalidFields({
        pages: 'You can stream one text at a time. For several texts, use "Review batch".',
      });
    return {
      download: {
        name: 'text',
        type: 'text/event-stream; charset=utf-8',
        content: streamText(writer, { template: checked, input, request }),
      },
    };
  });
}

function save(writer: ContentWriter, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(writer, request, async ({ post: settings }) => {
    const fields = readGroup(request, 'draft');
    const text = (name: string): string =>
      typeof fields[name] === 'string' ? fields[name].replaceAll('\r\n', '\n').trim() : '';
    const errors = await postErrors(writer.host, settings, request.user);
    if (settings.save === 'none')
      errors['save'] = 'Choose an output with a post. Without a post, the text is listed under "Texts and batches".';
    if (text('title') === '' && text('content') === '') errors['draft.title'] = 'Enter a title or a text.';
    if (Object.keys(errors).length > 0) throw invalidFields(errors);
    try {
      const saved = await saveText(writer, {
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
          ...(text('tags') !== '' && { tags: cleanTags(text('tags').split(/[,\n]/)) }),
        },
      });
      return withNotice(
        'success',
        saved.status === 'publish' ? 'Post published.' : saved.status === 'future' ? 'Post scheduled.' : 'Post saved.',
        { ...(await redirectTo(writer, saved.id)) },
      );
    } catch (error) {
      const id =
        error instanceof RestError && error.code === 'rest_svc_text_saved'
          ? (error.data as { readonly post_id: number }).post_id
          : null;
      if (id === null) throw error;
      return withNotice('info', 'This text was already saved as this post.', { ...(await redirectTo(writer, id)) });
    }
  });
}

async function redirectTo(writer: ContentWriter, id: number): Promise<{ redirect: string }> {
  const href = await findEditHref(writer, id);
  return { redirect: href === null ? slugs.runs : href.slice(writer.host.admin.url('').length).replace(/^\//, '') };
}

/** Creates a batch of all texts, for review before it costs anything. */
function review(writer: ContentWriter, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(writer, request, async (typed) => {
    const { host } = writer;
    const settings = await checkedTemplate(writer, typed);
    const errors = await postErrors(host, typed.post, request.user);
    if (Object.keys(errors).length > 0) throw invalidFields(errors);
    const { label, inputs, mapping, readPages } = await readInputs(host, request);
    const batch = await writer.runs.createBatch({
      label,
      userId: request.user.id,
      inputs,
      settings: { template: settings, post: typed.post, read_pages: readPages, mapping },
    });
    return { redirect: `${slugs.batch}?id=${String(batch.id)}` };
  });
}

function saveTemplate(writer: ContentWriter, request: AdminRequest): Promise<AdminActionResult> {
  return checkedForm(writer, request, async ({ base, settings }) => {
    const name = readText(request, 'template_name').trim();
    if (name === '') throw invalidFields({ template_name: 'Enter a name for the template.' });
    const made = await writer.templates
      .create({
        ...pickSettings(settings as unknown as TemplateSettings),
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
    return withNotice('success', `Template ${made.name} saved and selected.`, {
      redirect: `${slugs.write}?template=${made.id}`,
    });
  });
}
