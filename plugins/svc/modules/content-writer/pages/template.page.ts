import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import { errorAt } from '../../../admin-ui/setting-field.ts';
import { contentOf } from '../content.ts';
import { builtInTemplates } from '../templates/built-in.ts';
import type { Template } from '../templates/template.ts';
import { slugs, tabsOf } from './content-pages.ts';
import { fieldName, readTemplateForm, templateFields } from './template-form.ts';

const template = 'svc/content-template';

interface Editing {
  /** '': a new one. */
  readonly id: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

/** The form of one template: a new one, a copy, or one that was saved. */
export function templatePage(context: ServiceContext): AdminPageBody {
  return {
    render: async ({ query }) => {
      const text = (name: string): string => (typeof query[name] === 'string' ? query[name] : '');
      const copied = text('copy') === '' ? null : await found(context, text('copy'));
      if (copied)
        return {
          template,
          data: await view(context, { id: '', settings: { ...copied, name: `${copied.name} (copy)` } }),
        };
      if (text('id') === '')
        return {
          template,
          data: await view(context, {
            id: '',
            settings: { ...(builtInTemplates[0] as Template), name: '', description: '' },
          }),
        };
      const one = await found(context, text('id'));
      return {
        template,
        data: await view(context, {
          id: one.builtIn ? '' : one.id,
          settings: { ...one, ...(one.builtIn && { name: `${one.name} (copy)` }) },
        }),
      };
    },
    actions: { save: (request) => save(context, request) },
  };
}

async function found(context: ServiceContext, id: string): Promise<Template> {
  const one = await contentOf(context).templates.find(id);
  if (one === null)
    throw new RestError({
      code: 'rest_svc_template_not_found',
      status: 404,
      message: 'There is no such template. It may have been deleted.',
    });
  return one;
}

function save(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const id = readText(request, 'id');
  const { templates } = contentOf(context);
  let settings: Record<string, unknown> = {};
  return withFieldErrors(
    async () => {
      const base = id === '' ? (builtInTemplates[0] as Template) : await found(context, id);
      settings = readTemplateForm(request.form, base);
      const saved = id === '' ? await templates.create(settings) : await templates.replace(id, settings);
      if (saved === null)
        throw new RestError({
          code: 'rest_svc_template_not_found',
          status: 404,
          message: 'There is no such template any more. Copy your prompts, and save them as a new one.',
        });
      return { notice: { kind: 'success', text: `${saved.name} is saved.` }, redirect: slugs.templates };
    },
    {
      inputName: fieldName,
      page: async (errors) => ({ template, data: await view(context, { id, settings, errors }) }),
    },
  );
}

async function view(context: ServiceContext, { id, settings, errors = {} }: Editing): Promise<Record<string, unknown>> {
  const [fields, models] = await Promise.all([templateFields(context, settings, errors), offeredModels(context)]);
  return {
    tabs: tabsOf(context.host, 'template'),
    id,
    name: settings['name'],
    nameError: errorAt(errors, { path: 'name', label: 'Name' })?.replace(/^name: /, ''),
    description: settings['description'],
    kind: settings['kind'],
    kinds: [
      { value: 'write', label: 'Write something new' },
      { value: 'rewrite', label: 'Rewrite posts (in automations)' },
    ],
    ...fields,
    models: models.flatMap(({ text }) => text).slice(0, 500),
    templatesHref: context.host.admin.url(slugs.templates),
  };
}
