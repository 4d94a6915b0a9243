import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Provider } from '../../plugins/svc/providers/provider.ts';
import { record } from './recorder.ts';

/*
 * `npm run record -- openai [claude ...]`: records what vendors return to requests of the product, with the key of an account
 * in the variable named below, into `tests/fixtures/providers/recorded/`. A request costs a fraction of a cent.
 * `--model=gpt-5.6-terra` asks another model, `--url=http://127.0.0.1:8080/v1` another server.
 */

const folder = 'tests/fixtures/providers/recorded';

const vendors: Readonly<Record<string, { readonly variable: string | null; readonly model: string }>> = {
  openai: { variable: 'OPENAI_API_KEY', model: 'gpt-4.1-mini' },
  azure: { variable: 'AZURE_OPENAI_API_KEY', model: 'gpt-4.1-mini' },
  claude: { variable: 'ANTHROPIC_API_KEY', model: 'claude-haiku-4-5' },
  google: { variable: 'GEMINI_API_KEY', model: 'gemini-2.5-flash' },
  openrouter: { variable: 'OPENROUTER_API_KEY', model: 'openai/gpt-4.1-mini' },
  deepseek: { variable: 'DEEPSEEK_API_KEY', model: 'deepseek-chat' },
  xai: { variable: 'XAI_API_KEY', model: 'grok-4' },
  ollama: { variable: null, model: 'llama3.2' },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { model: { type: 'string' }, url: { type: 'string' } },
});
if (positionals.length === 0 || positionals.some((id) => vendors[id] === undefined))
  fail(`Usage: npm run record -- ${Object.keys(vendors).join('|')} [--model=NAME] [--url=BASE_URL]`);

for (const id of positionals) {
  const { variable, model } = vendors[id] as (typeof vendors)[string];
  const key = variable === null ? '' : (process.env[variable] ?? '');
  if (variable !== null && key === '') fail(`Set ${variable} to the key of an account with ${id}.`);
  const { provider } = (await import(`../../plugins/svc/providers/${id}.provider.ts`)) as { provider: Provider };
  const url = values.url ?? (id === 'azure' ? process.env['AZURE_OPENAI_ENDPOINT'] : undefined);
  if (id === 'azure' && url === undefined) fail('Set AZURE_OPENAI_ENDPOINT to the address of the resource.');
  const defaults = Object.fromEntries(
    Object.entries(provider.settings.properties).flatMap(([name, { default: value }]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  const settings = { ...defaults, ...(key !== '' && { api_key: key }), ...(url !== undefined && { base_url: url }) };
  const recording = await record({ provider, settings, model: values.model ?? model });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${id}.json`, `${JSON.stringify(recording, null, 2)}\n`);
  process.stdout.write(`${folder}/${id}.json: ${String(recording.exchanges.length)} exchanges\n`);
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
