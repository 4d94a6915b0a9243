import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { moveItem, readEdit } from '../../../admin-ui/list-edits.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import { inputName, readFields, valueAt, type Draft } from '../../../admin-ui/setting-field.ts';
import { aiFormsOf } from '../ai-forms.ts';
import { allFields, editorSpecs } from './edit-sections.ts';
import { editView } from './edit-view.ts';
import { elementsOf, newElement, readElements, type ElementDraft } from './element-draft.ts';
import { editSlug, formOf, postedForm } from './form-pages.ts';
import { readLimits } from './limit-rows.ts';

const template = 'svc/ai-form-edit';

/** The builder: all that is set of a form, beside a preview. */
export function editPage(context: ServiceContext): AdminPageBody {
  return {
    render: async ({ query }) => ({ template, data: await editView(context, await formOf(context, query['id'])) }),
    actions: {
      save: (request) => save(context, request),
      // Nothing is saved by these: the page comes back with what was typed.
      arrange: async (request) => {
        const form = await postedForm(context, request);
        return {
          page: {
            template,
            data: await editView(context, form, {
              draft: await readDraft(context, request),
              elements: arranged(readElements(request.form, true), request),
            }),
          },
        };
      },
      preview: async (request) => {
        const form = await postedForm(context, request);
        return {
          page: {
            template,
            data: await editView(context, form, {
              draft: await readDraft(context, request),
              elements: readElements(request.form, true),
            }),
          },
        };
      },
    },
  };
}

async function save(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const form = await postedForm(context, request);
  const draft = await readDraft(context, request);
  const elements = readElements(request.form, false);
  return withFieldErrors(
    async () => {
      const { name, status } = await aiFormsOf(context).forms.update(form.id, {
        ...draft,
        elements: elementsOf(elements),
      });
      return {
        notice: {
          kind: 'success',
          text: status === 'active' ? `${name} is saved.` : `${name} is saved. It is inactive: nobody sees it yet.`,
        },
        redirect: `${editSlug}?id=${String(form.id)}`,
      };
    },
    {
      inputName,
      page: async (errors) => ({ template, data: await editView(context, form, { draft, elements, errors }) }),
    },
  );
}

async function readDraft(context: ServiceContext, { form }: AdminRequest): Promise<Draft> {
  const settings = readFields(allFields(await editorSpecs(context)), form);
  const parameters = { ...(settings['parameters'] as Record<string, unknown> | undefined) };
  if (parameters['reasoning_effort'] === '') parameters['reasoning_effort'] = null;
  return { ...settings, parameters, ...(valueAt(form, 'limits') !== undefined && { limits: readLimits(form) }) };
}

/** What a button beside the fields asks for. */
function arranged(elements: readonly ElementDraft[], request: AdminRequest): ElementDraft[] {
  const { verb, at } = readEdit(request.form['_do']);
  switch (verb) {
    case 'add':
      return [...elements, newElement(readText(request, 'add_type'))];
    case 'remove':
      return elements.filter((_element, place) => place !== at);
    case 'up':
      return moveItem(elements, at, at - 1);
    case 'down':
      return moveItem(elements, at, at + 1);
    default:
      return [...elements];
  }
}
