import { formatCount, formatMoney } from '#plugin-api';
import { moduleTitles } from '../../kit/module-titles.ts';
import { scopeMembers, type Budget, type BudgetScope } from './budget.ts';
import type { BudgetPorts } from './module.ts';

/** An amount in the unit of a counter: `$12.50`, `1,200 tokens`. */
export function formatAmount(value: number, unit: Budget['unit']): string {
  return unit === 'dollars' ? formatMoney(value) : formatCount(value, unit.slice(0, -1));
}

/** Names by id of what budgets limit. */
export type ScopeNames = Readonly<Record<'bot' | 'key' | 'user', ReadonlyMap<number, string>>>;

/** Names of the chatbots, keys and users (their logins) of budgets. Reads only the kinds that the budgets have. */
export async function readScopeNames(
  { host, botReplies, namedKeys }: Pick<BudgetPorts, 'host' | 'botReplies' | 'namedKeys'>,
  budgets: readonly BudgetScope[],
): Promise<ScopeNames> {
  const has = (wanted: BudgetScope['scope']): boolean => budgets.some(({ scope }) => scope === wanted);
  const userIds = budgets.flatMap(({ scope, user_id: id }) => (scope === 'user' && id !== undefined ? [id] : []));
  const [bots, keys, users] = await Promise.all([
    has('bot') ? botReplies.list() : [],
    has('key') ? namedKeys() : [],
    userIds.length > 0 ? host.users.list({ include: userIds, limit: userIds.length }) : [],
  ]);
  return {
    bot: new Map(bots.map(({ id, name }) => [id, name])),
    key: new Map(keys.map(({ id, name }) => [id, name])),
    user: new Map(users.map(({ id, login }) => [id, login])),
  };
}

/** @param names Default: the label has ids, for programs. */
export function scopeLabel(budget: BudgetScope, names?: ScopeNames): string {
  const { scope, module = '' } = budget;
  if (scope === 'all') return 'all calls';
  if (scope === 'rest') return 'calls of the REST API';
  if (scope === 'module') return moduleTitles[module] ?? module;
  const stored = budget[scopeMembers[scope]] ?? '';
  if (scope === 'role') return `all users with the role ${String(stored)} together`;
  const noun = scope === 'bot' ? 'chatbot' : scope;
  if (names === undefined) return `${noun} ${String(stored)}`;
  const name = scope === 'plugin' ? stored : names[scope].get(Number(stored));
  return name === undefined ? `${noun} ${String(stored)} (deleted)` : `${noun} “${name}”`;
}
