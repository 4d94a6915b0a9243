import type { AiForms } from '../ai-forms.ts';
import { inputName, type AdminActionResult, type AdminPageBody, type AdminRequest, type AdminView } from '#plugin-api';
import { moveItem, readEdit } from '../../../admin-ui/list-edits.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import { editView, readDraft } from './edit-view.ts';
import { elementsOf, newElement, readElements, type ElementDraft } from './element-draft.ts';
import { editSlug, findForm, postedForm } from './form-pages.ts';

/** The form builder with a preview. */
export function editPage(parts: AiForms): AdminPageBody {
  return {
    render: async ({ query }) => page(parts, await findForm(parts, query['id'])),
    actions: {
      save: (request) => save(parts, request),
      // These save nothing and show the entered values again.
      arrange: async (request) => {
        const form = await postedForm(parts, request);
        return {
          page: await page(parts, form, {
            draft: readDraft(request.form),
            elements: arranged(readElements(request.form, true), request),
          }),
        };
      },
      preview: async (request) => {
        const form = await postedForm(parts, request);
        return {
          page: await page(parts, form, {
            draft: readDraft(request.form),
            elements: readElements(request.form, true),
          }),
        };
      },
    },
  };
}

async function page(
  parts: AiForms,
  form: Parameters<typeof editView>[1],
  typed?: Parameters<typeof editView>[2],
): Promise<AdminView> {
  return { template: 'svc/ai-form-edit', title: form.name, data: await editView(parts, form, typed) };
}

async function save(parts: AiForms, request: AdminRequest): Promise<AdminActionResult> {
  const form = await postedForm(parts, request);
  const draft = readDraft(request.form);
  const elements = readElements(request.form, false);
  return withFieldErrors(
    async () => {
      const { name, status } = await parts.forms.update(form.id, {
        ...draft,
        elements: elementsOf(elements),
      });
      return {
        notice: {
          kind: 'success',
          text: status === 'active' ? `${name} saved.` : `${name} saved. Visitors cannot see it while it is inactive.`,
        },
        redirect: `${editSlug}?id=${String(form.id)}`,
      };
    },
    {
      inputName,
      page: (errors) => page(parts, form, { draft, elements, errors }),
    },
  );
}

function arranged(elements: readonly ElementDraft[], request: AdminRequest): ElementDraft[] {
  const { verb, at } = readEdit(request.form['_do']);
  switch (verb) {
    case 'add':
      return [...elements, newElement(readText(request, 'add_type'))];
    case 'remove':
      return elements.filter((_element, index) => index !== at);
    case 'up':
      return moveItem(elements, at, at - 1);
    case 'down':
      return moveItem(elements, at, at + 1);
    default:
      return [...elements];
  }
}
