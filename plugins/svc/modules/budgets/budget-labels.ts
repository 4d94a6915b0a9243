import { formatCount, formatMoney } from '#plugin-api';
import { moduleTitles } from '../../kit/module-titles.ts';
import type { Budget, BudgetScope } from './budget.ts';

/** An amount in the unit of a counter: `$12.50`, `1,200 tokens`. */
export function formatAmount(value: number, unit: Budget['unit']): string {
  return unit === 'dollars' ? formatMoney(value) : formatCount(value, unit.slice(0, -1));
}

export function scopeLabel({ scope, module = '', bot_id = 0, key_id = 0, user_id = 0 }: BudgetScope): string {
  if (scope === 'all') return 'all calls';
  if (scope === 'rest') return 'calls of the REST API';
  if (scope === 'key') return `key ${String(key_id)}`;
  if (scope === 'user') return `user ${String(user_id)}`;
  return scope === 'bot' ? `chatbot ${String(bot_id)}` : (moduleTitles[module] ?? module);
}
