import { withNotice, invalidFields, withFieldErrors, translateText } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import type { EndpointInput } from '../endpoint.ts';
import { tryFilter } from './endpoint-filter.ts';
import { readEndpointForm } from './endpoint-form.ts';
import { saveEndpoint, type SavedEndpoint } from './endpoint-save.ts';
import { sendTest } from './endpoint-test.ts';
import { endpointView, type EditorTarget } from './endpoint-view.ts';
import { endpointSlug, webhooksSlug, type WebhookPagesContext } from './pages-context.ts';
import { testResponse } from './settings.page.ts';

/** Adds and edits an endpoint: `?id=` edits it, `?copy=` starts a copy of it. */
export function createPage(context: WebhookPagesContext): AdminPageBody {
  return {
    render: async ({ query }) => {
      const { id, copy } = query;
      return page(context, {
        id: typeof id === 'string' ? id : null,
        ...(typeof copy === 'string' && { copyOf: copy }),
      });
    },
    actions: {
      save: (request) =>
        save(context, request, async (saved) => ({ notice: savedNotice(saved), redirect: webhooksSlug })),
      'save-and-test': (request) =>
        save(context, request, async (saved) => {
          const { notice } = testResponse(await sendTest(context, saved.endpoint.id));
          const text = `${saved.endpoint.name} saved. ${notice?.text ?? ''} ${saved.warning ?? ''}`.trim();
          return withNotice(notice?.kind ?? 'info', text, {
            redirect: `${endpointSlug}?id=${saved.endpoint.id}`,
            status: 200,
          });
        }),
      test: async (request) => ({
        ...testResponse(await sendTest(context, readText(request, 'id'), readText(request, 'event') || undefined)),
        ...(request.headers['accept']?.includes('json') !== true && {
          redirect: `${endpointSlug}?id=${encodeURIComponent(readText(request, 'id'))}`,
        }),
      }),
      'try-filter': (request) => tryFilter(context, request),
      delete: (request) => remove(context, request),
    },
  };
}

async function page(context: WebhookPagesContext, target: EditorTarget): Promise<AdminView> {
  const data = await endpointView(context, target);
  return {
    template: 'svc/webhooks-endpoint',
    title: data['isSaved'] === true ? String(data['name']) : translateText('New endpoint'),
    data,
  };
}

/** Headers may hold secrets, so every changed one counts. */
function changesSecrets({ secret, headers = {} }: EndpointInput): boolean {
  return secret !== undefined || Object.keys(headers).length > 0;
}

function savedNotice({ endpoint, warning }: SavedEndpoint): NonNullable<AdminActionResult['notice']> {
  return warning === null
    ? { kind: 'success', text: `${endpoint.name} saved.` }
    : { kind: 'warning', text: `${endpoint.name} saved. ${warning}` };
}

async function save(
  context: WebhookPagesContext,
  request: AdminRequest,
  then: (saved: SavedEndpoint) => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  const form = readEndpointForm(request, context.webhooks.catalogue);
  if (changesSecrets(form.input)) request.requireFreshSignIn();
  return withFieldErrors(
    async () => {
      if (Object.keys(form.errors).length > 0) throw invalidFields(form.errors);
      return then(await saveEndpoint(context, form.input));
    },
    (errors) => page(context, { id: form.input.id ?? null, rejected: { ...form, errors } }),
  );
}

async function remove({ webhooks }: WebhookPagesContext, request: AdminRequest): Promise<AdminActionResult> {
  const id = readText(request, 'id');
  const removed = await webhooks.removeEndpoint(id);
  return {
    notice: removed
      ? { kind: 'success', text: 'Endpoint deleted. Its deliveries stay in the log.' }
      : { kind: 'info', text: 'The endpoint had already been deleted.' },
    redirect: webhooksSlug,
  };
}
