import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { fieldErrorsOf } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { createBase, whole } from '../bases/create-base.ts';
import { basesView } from './bases-view.ts';
import { baseSlug } from './slugs.ts';

const template = 'svc/knowledge';

/** The page "Knowledge": all knowledge bases, and the form for a new one. */
export function basesPage(context: ServiceContext): AdminPageBody {
  return {
    render: async () => ({ template, data: await basesView(context) }),
    actions: { create: (request) => create(context, request) },
  };
}

async function create(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const text = (name: string): string => readText(request, name);
  try {
    const { base, madeTarget } = await createBase(
      context,
      {
        name: text('name'),
        store: text('store'),
        target: text('target'),
        namespace: text('namespace'),
        embeddingProvider: text('embeddingProvider'),
        embeddingModel: text('embeddingModel'),
        chunkTokens: whole(text('chunkTokens'), 400),
        overlapTokens: whole(text('overlapTokens'), 60),
      },
      request.signal,
    );
    return {
      notice: {
        kind: 'success',
        text: `${base.name} is there${madeTarget ? `, and ${base.target} was made for it` : ''}. Now add what it is to know.`,
      },
      redirect: `${baseSlug}?id=${String(base.id)}`,
    };
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === null) throw error;
    return {
      notice: { kind: 'error', text: 'Nothing was made yet: look at the fields below.' },
      page: { template, data: await basesView(context, { typed: request.form, errors }) },
      status: 400,
    };
  }
}
