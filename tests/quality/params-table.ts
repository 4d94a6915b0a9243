import type { Provider } from '../../plugins/svc/providers/provider.ts';
import { aiParamSchemas, type AiParamName } from '../../plugins/svc/kit/ai-params.ts';

/** The README's table of D8: the name of each key of `ai_params` per provider. */
export function renderParamsTable(providers: readonly Pick<Provider, 'label' | 'text'>[]): string {
  const shown = providers.filter(({ text }) => text !== undefined);
  const names = Object.keys(aiParamSchemas) as AiParamName[];
  const rows = names.map((name) => [`\`${name}\``, ...shown.map(({ text }) => cell(text?.params[name]))]);
  const lines = [['`ai_params`', ...shown.map(({ label }) => label)], ['---', ...shown.map(() => '---')], ...rows];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

function cell(wireName: string | undefined): string {
  return wireName === undefined ? '–' : `\`${wireName}\``;
}
