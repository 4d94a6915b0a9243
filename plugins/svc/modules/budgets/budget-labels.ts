import { formatCount, formatMoney } from '#plugin-api';
import { moduleTitles } from '../../kit/module-titles.ts';
import type { Budget } from './budget.ts';

/** An amount in the unit of a counter: `$12.50`, `1,200 tokens`. */
export function formatAmount(value: number, unit: Budget['unit']): string {
  return unit === 'dollars' ? formatMoney(value) : formatCount(value, unit.slice(0, -1));
}

export function scopeLabel({ scope, module = '', bot_id = 0 }: Pick<Budget, 'scope' | 'module' | 'bot_id'>): string {
  if (scope === 'all') return 'all calls';
  if (scope === 'rest') return 'calls with the REST key';
  return scope === 'bot' ? `chatbot ${String(bot_id)}` : (moduleTitles[module] ?? module);
}
