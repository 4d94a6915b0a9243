import { formFields, requireFound, translateText, withNotice, withFieldErrors, restError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, FieldErrors } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import { builtInTemplates } from '../templates/built-in.ts';
import { templateSchema } from '../templates/template-schema.ts';
import type { Template } from '../templates/template.ts';
import { slugs, contentTabs } from './content-pages.ts';
import { fieldName, readTemplateForm, templateFields } from './template-form.ts';

const template = 'svc/content-template';

interface Editing {
  /** Empty for a new template. */
  readonly id: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

/** The page of one template: new, copied or saved. */
export function createPage(writer: ContentWriter): AdminPageBody {
  return {
    render: async ({ query }) => {
      const text = (name: string): string => (typeof query[name] === 'string' ? query[name] : '');
      const copied = text('copy') === '' ? null : await found(writer, text('copy'));
      if (copied)
        return {
          template,
          title: translateText('New template'),
          data: await view(writer, {
            id: '',
            settings: { ...copied, name: `${copied.name} ${translateText('(copy)')}` },
          }),
        };
      if (text('id') === '')
        return {
          template,
          title: translateText('New template'),
          data: await view(writer, {
            id: '',
            settings: { ...(builtInTemplates[0] as Template), name: '', description: '' },
          }),
        };
      const one = await found(writer, text('id'));
      return {
        template,
        data: await view(writer, {
          id: one.builtIn ? '' : one.id,
          settings: { ...one, ...(one.builtIn && { name: `${one.name} ${translateText('(copy)')}` }) },
        }),
      };
    },
    actions: { save: (request) => save(writer, request) },
  };
}

async function found(writer: ContentWriter, id: string): Promise<Template> {
  return requireFound(await writer.templates.find(id), {
    code: 'rest_svc_template_not_found',
    status: 404,
    message: 'Template not found. It may have been deleted.',
  });
}

function save(writer: ContentWriter, request: AdminRequest): Promise<AdminActionResult> {
  const id = readText(request, 'id');
  const { templates } = writer;
  let settings: Record<string, unknown> = {};
  return withFieldErrors(
    async () => {
      const base = id === '' ? (builtInTemplates[0] as Template) : await found(writer, id);
      settings = readTemplateForm(request.form, base);
      const saved = id === '' ? await templates.create(settings) : await templates.replace(id, settings);
      if (saved === null)
        throw restError(
          404,
          'rest_svc_template_not_found',
          'This template was deleted. Copy your prompts and save them as a new template.',
        );
      return withNotice('success', `${saved.name} saved.`, { redirect: slugs.templates });
    },
    async (errors) => ({ template, data: await view(writer, { id, settings, errors }) }),
    fieldName,
  );
}

async function view(writer: ContentWriter, { id, settings, errors = {} }: Editing): Promise<Record<string, unknown>> {
  const [fields, models] = await Promise.all([templateFields(writer, settings, errors), offeredModels(writer)]);
  return {
    tabs: contentTabs(writer.host, 'template'),
    id,
    about: formFields(templateSchema, {
      values: settings,
      errors: { ...errors, ...(errors['name'] && { name: errors['name'].replace(/^name: /, '') }) },
      id: 'template',
      paths: ['name', 'kind', 'description'],
    }),
    ...fields,
    models: models.flatMap(({ text }) => text).slice(0, 500),
    templatesHref: writer.host.admin.url(slugs.templates),
  };
}
