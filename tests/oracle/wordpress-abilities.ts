import { expect } from 'chai';
import { isRecord, RestError, type AbilityDefinition, type AbilityMeta, type JsonSchema } from '#plugin-api';
import type { TestHost } from '#testing';
import { readRows } from './wordpress-site.ts';

/** An ability of the recording; `does` and `permission` describe its functions. */
interface RecordedAbility {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly category: string;
  readonly input_schema?: JsonSchema;
  readonly output_schema?: JsonSchema;
  readonly does: string;
  readonly value?: unknown;
  readonly permission: string;
  readonly meta: AbilityMeta;
}

interface Setup {
  readonly categories: readonly {
    readonly slug: string;
    readonly label: string;
    readonly description: string;
    readonly meta?: Readonly<Record<string, unknown>>;
  }[];
  readonly abilities: readonly RecordedAbility[];
}

export function readAbilities(): ReturnType<typeof readRows<Setup>> {
  const { setup, rows } = readRows<Setup>('abilities.jsonl.gz');
  // The index of Site Health is recorded as `ns.index` too, and has no exception.
  return { setup, rows: rows.map((row) => (row.id === 'ns.index' ? { ...row, id: 'abilities.ns.index' } : row)) };
}

/** Registers the abilities of the recording in the actions of WordPress, and hides what its site did not have. */
export function registerAbilities({ hooks, abilities }: TestHost): void {
  const { setup } = readAbilities();
  hooks.addAction('wp_abilities_api_categories_init', () => {
    abilities.unregister('content');
    for (const { slug, ...category } of setup.categories) abilities.registerCategory(slug, category);
  });
  hooks.addAction('wp_abilities_api_init', async () => {
    for (const { name } of await abilities.list()) if (name.startsWith('host/')) abilities.unregister(name);
    for (const ability of setup.abilities) {
      const register = () => abilities.register(ability.name, toDefinition(ability));
      if (ability.name.split('/').length === 2) register();
      else expect(register).to.throw('is not valid');
    }
  });
}

function toDefinition(ability: RecordedAbility): AbilityDefinition {
  const { label, description, category, input_schema, output_schema, meta } = ability;
  return {
    label,
    description,
    category,
    ...(input_schema && { inputSchema: input_schema }),
    ...(output_schema && { outputSchema: output_schema }),
    meta,
    permission: (input, { user }) => {
      const { permission } = ability;
      if (permission === 'true') return true;
      if (permission.startsWith('error'))
        return new RestError({ code: 'rec_denied', message: 'Denied by callback.', status: 418, data: { why: 'tea' } });
      const capability = /^cap:(\w+)/.exec(permission)?.[1] ?? 'do_not_allow';
      const isForbidden = permission.includes('forbidden') && isRecord(input) && input['title'] === 'forbidden';
      return user.can(capability) && !isForbidden;
    },
    execute: (input) => run(ability, input),
  };
}

function run({ does, value }: RecordedAbility, input: unknown): unknown {
  const members = isRecord(input) ? input : {};
  if (does === 'const') return value;
  if (does === 'echo') return input;
  if (does.startsWith('purge')) return { deleted: members['id'], deep: members['deep'] ?? false };
  if (does.startsWith('sum')) {
    const types = Object.entries(members).map(([name, member]) => [name, typeName(member)]);
    return { sum: Number(members['a']) + Number(members['b'] ?? 0), types: Object.fromEntries(types) as unknown };
  }
  if (input === 'throw') throw new Error('Boom <b>');
  return new RestError({ code: 'rec_fail', message: 'It failed.', ...(input === 'status' && { status: 409 }) });
}

/** As PHP names it. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'double') : typeof value;
}
