import { requireFound, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPage, AdminRequest } from '#plugin-api';
import type { Store, VectorStoresPorts } from './module.ts';
import { secretStates } from '../../admin-ui/setting-fields.ts';
import { readGroup, readChanges, readText } from '../../admin-ui/form-values.ts';
import { droppedSecretsText } from '../../settings/configured.ts';
import { readTarget, storeCard, storesView } from './stores-view.ts';

export const storesTemplate = 'svc/vector-stores';

/** Actions of the page "Vector stores": save and test a store, create and delete its indexes or collections. */
export function storeActions(ports: VectorStoresPorts): NonNullable<AdminPage['actions']> {
  return {
    'save-store': (request) =>
      saveAnd(request, ports, async (store, removed) =>
        withNotice(removed === '' ? 'success' : 'warning', `${store.label} settings saved. ${removed}`.trim(), {
          redirect: `svc/vector-stores?store=${store.id}`,
        }),
      ),
    'test-store': (request) => saveAnd(request, ports, (store, removed) => test(request, ports, { store, removed })),
    'create-target': (request) => create(request, ports),
    'delete-target': (request) => remove(request, ports),
  };
}

/** The store of a form. @throws RestError 400 for an unknown one. */
function findStore(request: AdminRequest, ports: VectorStoresPorts): Store {
  return requireFound(ports.vectorStores.get(readText(request, 'store')), {
    code: 'rest_svc_unknown_vector_store',
    status: 400,
    message: 'Unknown vector store. Reload the page.',
  });
}

async function saveAnd(
  request: AdminRequest,
  ports: VectorStoresPorts,
  then: (store: Store, removed: string) => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  const store = findStore(request, ports);
  return withFieldErrors(
    async () => {
      const saved = await ports.vectorStoreSettings.save(store, readChanges(request, store));
      return then(store, droppedSecretsText(saved));
    },
    async (errors) => ({
      template: storesTemplate,
      data: await storesView(ports, {
        invalid: { form: `settings-${store.id}`, typed: readGroup(request, 'settings'), errors },
      }),
    }),
    (name) => `settings[${name}]`,
  );
}

async function test(
  request: AdminRequest,
  ports: VectorStoresPorts,
  { store, removed }: { readonly store: Store; readonly removed: string },
): Promise<AdminActionResult> {
  const result = await ports.testVectorStore(store.id, request.signal);
  const card = await storeCard(ports, store);
  return withNotice(
    result.ok ? 'success' : 'error',
    `${removed} ${
      result.ok ? `${store.label}: ${result.message}` : `Settings saved, but the test failed. ${result.message}`
    }`.trim(),
    {
      page: { template: storesTemplate, data: { ...(await storesView(ports)), openStore: store.id } },
      data: { works: result.ok, badge: card.badge, secrets: secretStates(card.fields) },
      status: result.ok ? 200 : 400,
    },
  );
}

async function create(request: AdminRequest, ports: VectorStoresPorts): Promise<AdminActionResult> {
  const store = findStore(request, ports);
  const typed = readGroup(request, 'target');
  return withFieldErrors(
    async () => {
      const target = readTarget(store, typed);
      const session = await ports.openVectorStore(store.id, { signal: request.signal });
      await session.create(target);
      return withNotice('success', `Created the ${store.targetKind} ${target.name} in ${store.label}.`, {
        redirect: 'svc/vector-stores',
      });
    },
    async (errors) => ({
      template: storesTemplate,
      data: await storesView(ports, { invalid: { form: `create-${store.id}`, typed, errors } }),
    }),
    (name) => `target[${name}]`,
  );
}

async function remove(request: AdminRequest, ports: VectorStoresPorts): Promise<AdminActionResult> {
  const store = findStore(request, ports);
  const name = readText(request, 'target');
  if (name === '') return withNotice('error', `Nothing was deleted. Choose the ${store.targetKind} to delete.`);
  const session = await ports.openVectorStore(store.id, { signal: request.signal });
  await session.remove(name);
  return withNotice('success', `Deleted the ${store.targetKind} ${name} from ${store.label}.`, {
    redirect: 'svc/vector-stores',
  });
}
