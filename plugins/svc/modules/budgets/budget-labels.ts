import { formatCount, formatMoney } from '#plugin-api';
import { moduleTitles } from '../../kit/module-titles.ts';
import { scopeMembers, type Budget, type BudgetScope } from './budget.ts';

/** An amount in the unit of a counter: `$12.50`, `1,200 tokens`. */
export function formatAmount(value: number, unit: Budget['unit']): string {
  return unit === 'dollars' ? formatMoney(value) : formatCount(value, unit.slice(0, -1));
}

export function scopeLabel(budget: BudgetScope): string {
  const { scope, module = '' } = budget;
  if (scope === 'all') return 'all calls';
  if (scope === 'rest') return 'calls of the REST API';
  if (scope === 'module') return moduleTitles[module] ?? module;
  const named = String(budget[scopeMembers[scope]] ?? '');
  if (scope === 'role') return `all users with the role ${named} together`;
  return `${scope === 'bot' ? 'chatbot' : scope} ${named}`;
}
