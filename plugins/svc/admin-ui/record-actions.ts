import { backToList, notSelected, readFormer, readIds, withNotice, writeFormer } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from './form-values.ts';
import type { Transfer } from '../kit/read-transfer.ts';
import { downloadJson, importUpload, type RefusedImport } from './transfer-actions.ts';

interface Named<Status extends string = 'active' | 'inactive'> {
  readonly id: number;
  readonly name: string;
  readonly status: Status;
}

/** How switching on and off is called, by the state of what is off. */
const onLabels = { inactive: 'Activate', paused: 'Resume' } as const;
const offLabels = { inactive: 'Deactivate', paused: 'Pause' } as const;
const switched = {
  inactive: (what: string, isOn: boolean) => (isOn ? `${what} activated.` : `${what} deactivated.`),
  paused: (what: string, isOn: boolean) => (isOn ? `${what} resumed.` : `${what} paused.`),
} as const;
export type Off = keyof typeof onLabels;

/** What the row of a record names and sends. */
export function recordRow({ id, name, status }: Named<'active' | Off>, off: Off = 'inactive') {
  const isActive = status === 'active';
  return {
    id,
    title: name,
    idFields: { id },
    switchLabel: isActive ? offLabels[off] : onLabels[off],
    switchFields: { id, status: isActive ? off : 'active' },
  };
}

/** The state of a chatbot or a form. */
export function statusBadge(status: 'active' | 'inactive') {
  return status === 'active'
    ? ({ text: 'Active', kind: 'success' } as const)
    : ({ text: 'Inactive', kind: 'info' } as const);
}

/** What a person can do with several checked records. @param question before they are deleted */
export function recordBulkOptions(question: string, off: Off) {
  return [
    { value: 'active', label: onLabels[off] },
    { value: off, label: offLabels[off] },
    { value: 'delete', label: 'Delete', confirm: question },
  ];
}

/** What the list page of chatbots and of forms can do with them. */
export interface RecordActionsInit<Item extends Named> {
  readonly store: {
    list(ids?: readonly number[]): Promise<readonly Item[]>;
    update(id: number, changes: { readonly status: 'active' | 'inactive' }): Promise<Item>;
    duplicate(id: number): Promise<Item>;
    delete(id: number): Promise<unknown>;
    createAll(list: readonly unknown[]): Promise<readonly Item[]>;
  };
  /** The item of the field `id`. @throws RestError if there is none */
  find(request: AdminRequest): Promise<Item>;
  readonly transfer: Transfer<Item, unknown>;
  /** The page with the errors of an import. */
  page(refused: RefusedImport): Promise<NonNullable<AdminActionResult['page']>>;
  readonly editSlug: string;
  readonly listSlug: string;
  /** Name of an export's file, without its extension: of one item, and of several. */
  readonly fileNames: { readonly one: (item: Item) => string; readonly all: string };
  readonly texts: {
    /** Follows "<name> is inactive. ". */
    readonly inactive: string;
    readonly duplicated: (name: string) => string;
    readonly deleted: (name: string) => string;
    /** What several are: `3 chatbots`. */
    readonly count: (count: number) => string;
    readonly imported: (count: number) => string;
  };
}

/** The actions `switch`, `duplicate`, `delete`, `export` and `import`. */
export function recordActions<Item extends Named>(
  init: RecordActionsInit<Item>,
): NonNullable<AdminPageBody['actions']> {
  const { store, find, texts } = init;
  const editUrl = (id: number): string => `${init.editSlug}?id=${String(id)}`;
  return {
    switch: async (request) => {
      const status = readText(request, 'status') === 'active' ? 'active' : 'inactive';
      const { name } = await store.update((await find(request)).id, { status });
      return withNotice(
        'success',
        status === 'active' ? `${name} is active.` : `${name} is inactive. ${texts.inactive}`,
      );
    },
    bulk: (request) => changeSeveral(init, request, 'inactive'),
    duplicate: async (request) => {
      const { id, name } = await store.duplicate((await find(request)).id);
      return withNotice('success', texts.duplicated(name), { redirect: editUrl(id) });
    },
    delete: async (request) => {
      const { id, name } = await find(request);
      await store.delete(id);
      return withNotice('success', texts.deleted(name));
    },
    export: async (request) => {
      const chosen = readText(request, 'id') === '' ? await store.list() : [await find(request)];
      const [first] = chosen;
      const name = chosen.length === 1 && first ? init.fileNames.one(first) : init.fileNames.all;
      return downloadJson(`${name}.json`, init.transfer.exportItems(chosen));
    },
    import: (request) =>
      importUpload(request, {
        pasted: readText(request, 'json'),
        run: async (text) => {
          const created = await init.transfer.importItems(text, store);
          const [first] = created;
          return created.length === 1 && first
            ? withNotice('success', `${first.name} imported.`, { redirect: editUrl(first.id) })
            : withNotice('success', texts.imported(created.length), { redirect: init.listSlug });
        },
        page: (refused) => init.page(refused),
      }),
  };
}

/** What `changeSeveral` needs of a list. */
interface SeveralInit<Item, Status extends string> {
  readonly store: {
    list(ids: readonly number[]): Promise<readonly Item[]>;
    update(id: number, changes: { readonly status: Status }): Promise<unknown>;
    delete(id: number): Promise<unknown>;
  };
  readonly listSlug: string;
  readonly texts: { readonly deleted: (name: string) => string; readonly count: (count: number) => string };
}

/** Switches the checked records on or off, or deletes them. `undo` restores the states in `was`. */
export async function changeSeveral<Status extends Off, Item extends Named<'active' | Status>>(
  { store, listSlug, texts }: SeveralInit<Item, 'active' | Status>,
  request: AdminRequest,
  off: Status,
): Promise<AdminActionResult> {
  const wanted = readText(request, 'do');
  const before = readFormer(request);
  const ids = new Set(readIds(request));
  const selected = (await store.list([...ids])).filter(({ id }) => ids.has(id));
  const { query, redirect } = backToList(request, listSlug, ['s', 'status']);
  const [first] = selected;
  if (!['active', off, 'delete', 'undo'].includes(wanted) || !first) throw notSelected();
  const what = selected.length === 1 ? first.name : texts.count(selected.length);
  if (wanted === 'delete') {
    for (const { id } of selected) await store.delete(id);
    return withNotice('success', texts.deleted(what), { redirect });
  }
  for (const { id } of selected)
    await store.update(id, { status: (wanted === 'undo' ? before.get(id) : wanted) === 'active' ? 'active' : off });
  if (wanted === 'undo') return withNotice('success', `${what}: previous state restored.`, { redirect });
  const fields = {
    do: 'undo',
    ids: selected.map(({ id }) => id).join(','),
    was: writeFormer(selected, ({ status }) => status),
    back: query,
  };
  const text = switched[off](what, wanted === 'active');
  return { notice: { kind: 'success', text, undo: { action: 'bulk', fields } }, redirect };
}
