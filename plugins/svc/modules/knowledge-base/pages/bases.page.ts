import type { KnowledgeParts } from '../knowledge.ts';
import {
  type AdminActionResult,
  type AdminPageBody,
  type AdminRequest,
  withNotice,
  withFieldErrors,
} from '#plugin-api';
import { createBase, type TypedBase } from '../bases/create-base.ts';
import { basesView } from './bases-view.ts';
import { baseSlug } from '../register.ts';

const template = 'svc/knowledge';

/** The page "Knowledge": all knowledge bases, and the form for a new one. */
export function createPage(parts: KnowledgeParts): AdminPageBody {
  return {
    render: async () => ({ template, data: await basesView(parts) }),
    actions: { create: (request) => create(parts, request) },
  };
}

function create(parts: KnowledgeParts, { form, signal }: AdminRequest): Promise<AdminActionResult> {
  return withFieldErrors(
    async () => {
      const { base } = await createBase(parts, form as TypedBase, signal);
      return withNotice('success', `"${base.name}" created. Add your first source.`, {
        redirect: `${baseSlug}?id=${String(base.id)}`,
      });
    },
    async (errors) => ({ template, data: await basesView(parts, { typed: form, errors }) }),
  );
}
