import { RestError, type AdminActionResult, type AdminPage, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { readNewTarget } from './new-target.ts';
import { readGroup, readChanges, readText } from '../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { storeCard, storesView } from './stores-view.ts';

type Store = ServiceContext['knownVectorStores'][number];
export const storesTemplate = 'svc/vector-stores';

/** Actions of the page "Vector stores": settings and test of a store, making and deleting what it holds. */
export function storeActions(context: ServiceContext): NonNullable<AdminPage['actions']> {
  return {
    'save-store': (request) =>
      saveAnd(request, context, async (store) => ({
        notice: { kind: 'success', text: `The settings of ${store.label} are saved.` },
        redirect: `svc/vector-stores?store=${store.id}`,
      })),
    'test-store': (request) => saveAnd(request, context, (store) => test(request, context, store)),
    'create-target': (request) => create(request, context),
    'delete-target': (request) => remove(request, context),
  };
}

/** The store a form is about. Throws RestError 400 for one that is not there. */
function storeOf(request: AdminRequest, context: ServiceContext): Store {
  const store = context.vectorStores.get(readText(request, 'store'));
  if (!store)
    throw new RestError({
      code: 'rest_svc_unknown_vector_store',
      status: 400,
      message: 'There is no such vector store. Reload the page.',
    });
  return store;
}

async function saveAnd(
  request: AdminRequest,
  context: ServiceContext,
  then: (store: Store) => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  const store = storeOf(request, context);
  return withFieldErrors(
    async () => {
      await context.vectorStoreSettings.save(store, readChanges(request, store));
      return then(store);
    },
    {
      inputName: (name) => `settings[${name}]`,
      page: async (errors) => ({
        template: storesTemplate,
        data: await storesView(context, {
          form: `settings-${store.id}`,
          typed: readGroup(request, 'settings'),
          errors,
        }),
      }),
    },
  );
}

async function test(request: AdminRequest, context: ServiceContext, store: Store): Promise<AdminActionResult> {
  const result = await context.testVectorStore(store.id, request.signal);
  const card = await storeCard(context, store);
  const secrets = Object.fromEntries(
    card.fields.filter((field) => field.schema.writeOnly).map((field) => [field.name, field.value]),
  );
  return {
    notice: {
      kind: result.ok ? 'success' : 'error',
      text: result.ok
        ? `${store.label}: ${result.message}`
        : `The settings are saved, but the test failed. ${result.message}`,
    },
    page: { template: storesTemplate, data: { ...(await storesView(context)), openStore: store.id } },
    data: { works: result.ok, badge: card.badge, secrets },
    status: result.ok ? 200 : 400,
  };
}

async function create(request: AdminRequest, context: ServiceContext): Promise<AdminActionResult> {
  const store = storeOf(request, context);
  const typed = readGroup(request, 'target');
  const text = (name: string): string => (typeof typed[name] === 'string' ? typed[name] : '');
  return withFieldErrors(
    async () => {
      const target = readNewTarget(store, { name: text('name'), dimension: text('dimension'), metric: text('metric') });
      const session = await context.openVectorStore(store.id, { signal: request.signal });
      await session.create(target);
      return {
        notice: { kind: 'success', text: `The ${store.targetKind} ${target.name} was made in ${store.label}.` },
        redirect: 'svc/vector-stores',
      };
    },
    {
      inputName: (name) => `target[${name}]`,
      page: async (errors) => ({
        template: storesTemplate,
        data: await storesView(context, { form: `create-${store.id}`, typed, errors }),
      }),
    },
  );
}

/** Deletes for good, so the name is asked for a second time by the box beside the button. */
async function remove(request: AdminRequest, context: ServiceContext): Promise<AdminActionResult> {
  const store = storeOf(request, context);
  const name = readText(request, 'target');
  if (readText(request, 'confirm') !== name || name === '') {
    return {
      notice: {
        kind: 'error',
        text: `Nothing was deleted. Tick the box to confirm that the ${store.targetKind} and all it holds go.`,
      },
    };
  }
  const session = await context.openVectorStore(store.id, { signal: request.signal });
  await session.remove(name);
  return {
    notice: { kind: 'success', text: `The ${store.targetKind} ${name} was deleted from ${store.label}.` },
    redirect: 'svc/vector-stores',
  };
}
