import { backToList, formatCount, formatDate, listQuery, listTabs, listView, matchesSearch } from '#plugin-api';
import { notSelected, pageRows, queryText, readIds, readList, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminRequest } from '#plugin-api';
import { deletedBotLabel, readText, type NamedRecord } from '../../admin-ui/form-values.ts';
import type { KeyStore } from './key-store.ts';
import { dayOfExpiry } from './key-view.ts';
import { keyState, type KeyState, type NamedKey } from './named-key.ts';

export const keysSlug = 'svc/keys';

const badges: Readonly<Record<KeyState, { readonly text: string; readonly kind: string }>> = {
  active: { text: 'Active', kind: 'success' },
  expiring: { text: 'Expires soon', kind: 'warning' },
  expired: { text: 'Expired', kind: 'error' },
  revoked: { text: 'Revoked', kind: '' },
};
const states = Object.keys(badges) as readonly KeyState[];

interface KeyListInit {
  readonly keys: readonly NamedKey[];
  readonly bots: readonly NamedRecord[];
  readonly now: number;
  readonly timezone: string;
}

/** The list of keys: search, states, sorting and pages. */
export function keyList(request: Pick<AdminRequest, 'query'>, { keys, bots, now, timezone }: KeyListInit) {
  const search = queryText(request, 's');
  const state = states.find((name) => name === queryText(request, 'state')) ?? '';
  const found = keys.filter(({ name, prefix }) => matchesSearch(search, name, prefix));
  const shown = state === '' ? found : found.filter((key) => keyState(key, now) === state);
  const page = pageRows(
    readList(request, { sortable: ['name', 'lastUsedAt', 'expiresAt'], filters: { s: search, state } }),
    shown,
    (key, column) => (column === 'name' ? key.name : column === 'lastUsedAt' ? key.lastUsedAt : key.expiresAt),
  );
  const rows = page.rows.map((key) => keyRow(key, { bots, now, timezone, back: listQuery(page.state) }));
  return {
    search,
    searchFields: { state },
    rows,
    hasOpen: rows.some(({ isRevoked }) => !isRevoked),
    bulkFields: { back: listQuery(page.state) },
    bulkOptions: [
      {
        value: 'revoke',
        label: 'Revoke',
        confirm: 'Revoke the selected keys? All further requests with them are refused. This cannot be undone.',
      },
    ],
    tabs: listTabs({ filter: 'state', current: state, search }, [
      { name: '', label: 'All', count: found.length },
      ...states
        .map((name) => ({
          ...{ name, label: badges[name].text },
          count: found.filter((key) => keyState(key, now) === name).length,
        }))
        .filter(({ name, count }) => count > 0 || name === state),
    ]),
    ...listView(page.state, {
      total: shown.length,
      text: formatCount(shown.length, 'key'),
      chips: { s: `Search: ${search}`, state: state === '' ? '' : badges[state].text },
      columns: [
        { label: 'Name', key: 'name' },
        { label: 'Status' },
        { label: 'May call' },
        { label: 'Last used', key: 'lastUsedAt' },
        { label: 'Last day', key: 'expiresAt' },
      ],
    }),
  };
}

function keyRow(key: NamedKey, { bots, now, timezone, back }: Omit<KeyListInit, 'keys'> & { readonly back: string }) {
  const link = (name: string): string => `?${back === '' ? '' : `${back}&`}${name}=${String(key.id)}`;
  return {
    id: key.id,
    name: key.name,
    prefix: `${key.prefix}…`,
    badge: badges[keyState(key, now)],
    routes: key.scopes.routes.join(', '),
    limits: limitsOf(key, bots),
    expires: formatDate(dayOfExpiry(key, timezone), 'date', 'UTC'),
    lastUsedAt: key.lastUsedAt,
    oldUntil: key.oldUntil !== null && key.oldUntil > now ? key.oldUntil : null,
    isRevoked: key.revokedAt !== null,
    fields: { id: key.id },
    revokeFields: { do: 'revoke', ids: key.id, back },
    editHref: `${link('edit')}#key-form`,
    testHref: `${link('test')}#key-test`,
  };
}

/** Revokes the checked keys, or the one of a row. */
export async function revokeKeys(request: AdminRequest, store: KeyStore): Promise<AdminActionResult> {
  if (readText(request, 'do') !== 'revoke') throw notSelected();
  const ids = readIds(request);
  request.requireFreshSignIn();
  const revoked: NamedKey[] = [];
  for (const id of ids) revoked.push(await store.revoke(id));
  const [first] = revoked;
  const { redirect } = backToList(request, keysSlug, ['s', 'state']);
  return revoked.length === 1 && first
    ? withNotice('success', `“${first.name}” is revoked. Requests with it get 401.`, { redirect })
    : withNotice('success', `${formatCount(revoked.length, 'key')} revoked. Requests with them get 401.`, { redirect });
}

/** What else limits a key, in words. */
function limitsOf({ scopes, requestsPerMinute }: NamedKey, bots: readonly NamedRecord[]): string[] {
  const { providers, models, chatbots, abilities } = scopes;
  const list = (label: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${label}: ${items.join(', ')}`];
  return [
    ...list('Providers', providers),
    ...list('Models', models),
    ...list(
      'Chatbots',
      chatbots.map((id) => bots.find((bot) => bot.id === id)?.name ?? deletedBotLabel(id)),
    ),
    ...list('Abilities', abilities),
    ...(requestsPerMinute > 0 ? [`${formatCount(requestsPerMinute, 'call')} per minute`] : []),
  ];
}
