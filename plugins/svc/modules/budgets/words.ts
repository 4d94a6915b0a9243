import { formatMoney } from '#plugin-api';
import type { Budget } from './budget.ts';

/** Modules that make calls, as a person reads their names. */
export const moduleTitles: Readonly<Record<string, string>> = {
  chatbots: 'Chatbots',
  'content-writer': 'Content Writer',
  automations: 'Automations',
  'ai-forms': 'AI Forms',
  images: 'Images',
  'knowledge-base': 'Knowledge Base',
};

/** A figure of a budget, as counters hold it. */
export function figure(value: number, unit: Budget['unit']): string {
  if (unit === 'dollars') return formatMoney(value);
  const text = value.toLocaleString('en-US');
  return `${text} ${value === 1 ? unit.slice(0, -1) : unit}`;
}

export function whose({ scope, module = '', bot_id = 0 }: Pick<Budget, 'scope' | 'module' | 'bot_id'>): string {
  if (scope === 'all') return 'all calls';
  if (scope === 'rest') return 'calls with the REST key';
  return scope === 'bot' ? `chatbot ${String(bot_id)}` : (moduleTitles[module] ?? module);
}
