import type { AiForms } from '../ai-forms.ts';
import { inputName, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import { arrangeElements, filledElements } from '../../../admin-ui/element-drafts.ts';
import { requireAmounts } from '../../../admin-ui/assistant-fields.ts';
import { editView, readDraft } from './edit-view.ts';
import { elementsOf, newElement, readElements, type ElementDraft } from './element-draft.ts';
import { editSlug, findForm, postedForm } from './form-pages.ts';

/** The form builder with a preview. */
export function createPage(parts: AiForms): AdminPageBody {
  return {
    render: async ({ query }) => page(parts, await findForm(parts, query['id'])),
    actions: {
      save: (request) => save(parts, request),
      // These save nothing and show the entered values again.
      arrange: (request) => shown(parts, request, arrangeElements(readElements(request.form), request, newElement)),
      preview: (request) => shown(parts, request, readElements(request.form)),
    },
  };
}

async function shown(
  parts: AiForms,
  request: AdminRequest,
  elements: readonly ElementDraft[],
): Promise<AdminActionResult> {
  const draft = readDraft(request.form);
  return { page: await page(parts, await postedForm(parts, request), { draft, elements }) };
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
  const elements = filledElements(readElements(request.form));
  return withFieldErrors(
    async () => {
      requireAmounts(request.form);
      const { name, status } = await parts.forms.update(form.id, {
        ...draft,
        elements: elementsOf(elements),
      });
      return withNotice(
        'success',
        status === 'active' ? `${name} saved.` : `${name} saved. Visitors cannot see it while it is inactive.`,
        { redirect: `${editSlug}?id=${String(form.id)}` },
      );
    },
    (errors) => page(parts, form, { draft, elements, errors }),
    inputName,
  );
}
