import type { KnowledgeParts } from '../knowledge.ts';
import { type AdminActionResult, type AdminPageBody, type AdminRequest, withNotice } from '#plugin-api';
import { fieldErrorsOf } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { createBase, parseInteger } from '../bases/create-base.ts';
import { basesView } from './bases-view.ts';
import { baseSlug } from '../register.ts';

const template = 'svc/knowledge';

/** The page "Knowledge": all knowledge bases, and the form for a new one. */
export function basesPage(parts: KnowledgeParts): AdminPageBody {
  return {
    render: async () => ({ template, data: await basesView(parts) }),
    actions: { create: (request) => create(parts, request) },
  };
}

async function create(parts: KnowledgeParts, request: AdminRequest): Promise<AdminActionResult> {
  const text = (name: string): string => readText(request, name);
  try {
    const { base } = await createBase(
      parts,
      {
        name: text('name'),
        store: text('store'),
        target: text('target'),
        namespace: text('namespace'),
        embeddingProvider: text('embeddingProvider'),
        embeddingModel: text('embeddingModel'),
        chunkTokens: parseInteger(text('chunkTokens'), 400),
        overlapTokens: parseInteger(text('overlapTokens'), 60),
      },
      request.signal,
    );
    return withNotice('success', `"${base.name}" created. Add your first source.`, {
      redirect: `${baseSlug}?id=${String(base.id)}`,
    });
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === null) throw error;
    return withNotice('error', 'Nothing was created. Correct the fields below.', {
      page: { template, data: await basesView(parts, { typed: request.form, errors }) },
      status: 400,
    });
  }
}
