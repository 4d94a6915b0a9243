import { isRecord, type CliCommand, type JsonSchema } from '#plugin-api';
import { keyRoutes, type KeyRoute } from '../../kit/caller.ts';
import type { ExplainKeyInit } from './explain.ts';
import type { KeyPorts } from './module.ts';
import { createKeyStore, type IssuedKey, type KeyStore } from './key-store.ts';
import { keyState, type NamedKey } from './named-key.ts';
import { dayOfExpiry, valuesOf } from './key-view.ts';
import { chatbotIds } from './read-key.ts';
import { createFindUnknownScopes } from './scope-targets.ts';

const idArgument = { name: 'id', description: 'Id of the key, see svc key list.' };

const text = (description: string): JsonSchema => ({ type: 'string', description });

const settingFlags = {
  name: text('Who uses the key.'),
  routes: text(`Comma-separated routes: ${keyRoutes.join(', ')}.`),
  providers: text('Comma-separated ids of providers. Default: all.'),
  models: text('Comma-separated models; * matches any characters. Default: all, or none beside --chatbots.'),
  chatbots: text(
    'Comma-separated ids of chatbots. The key then reaches these alone, on the routes openai and anthropic too; ' +
      'add --models to allow models beside them. Default: all.',
  ),
  abilities: text(
    'Comma-separated names of abilities that read what only the creator may see, or change or delete data. Default: none.',
  ),
  'requests-per-minute': { type: 'integer', minimum: 0, description: 'Calls per minute. 0, the default: no limit.' },
  lenient: {
    type: 'boolean',
    description:
      'Leave out of requests to the OpenAI-compatible and Anthropic-compatible routes what a model lacks, instead of refusing it.',
  },
  expires: text('Last day on which the key works, YYYY-MM-DD in the time zone of the site. Default: it never expires.'),
} as const satisfies Record<string, JsonSchema>;

/** `svc key list|create|update|rotate|revoke|explain`: named keys (D31). */
export function namedKeyCommands(ports: KeyPorts): CliCommand[] {
  const { host, explainKey } = ports;
  const store = createKeyStore(host, createFindUnknownScopes(ports));
  const print = async (key: NamedKey) => ({
    id: key.id,
    name: key.name,
    state: keyState(key, host.clock.now()),
    key: `${key.prefix}…`,
    ...Object.fromEntries(Object.entries(key.scopes).map(([name, values]) => [name, values.join(', ')])),
    requests_per_minute: key.requestsPerMinute,
    lenient: key.isLenient,
    expires: dayOfExpiry(key, await host.site.timezone()),
    last_used: key.lastUsedAt === null ? '' : new Date(key.lastUsedAt).toISOString(),
  });
  const printSecret = async ({ key, secret }: IssuedKey) => ({ ...(await print(key)), key: secret });
  return [
    {
      name: 'svc key list',
      description: 'List the named keys.',
      run: async () => Promise.all((await store.list()).map(print)),
    },
    {
      name: 'svc key create',
      description: 'Create a named key and print it. It cannot be read again.',
      flags: settingFlags,
      run: async ({ flags }) => printSecret(await store.create(settingsOf(flags), 0)),
    },
    {
      name: 'svc key update',
      description: 'Change a named key. Settings that are left out stay as they are; an empty value resets one.',
      args: [idArgument],
      flags: settingFlags,
      run: async ({ args: [id], flags }) => {
        const key = await findKey(store, id);
        const current = await valuesOf(key, host);
        return print(await store.update(key.id, { ...current, ...settingsOf(flags) }));
      },
    },
    {
      name: 'svc key rotate',
      description: 'Issue another secret for a named key and print it. The one before keeps working for a while.',
      args: [idArgument],
      flags: {
        hours: {
          type: 'integer',
          minimum: 0,
          maximum: 8760,
          default: 24,
          description: 'Hours that the secret before keeps working.',
        },
      },
      run: async ({ args: [id], flags }) =>
        printSecret(await store.rotate((await findKey(store, id)).id, Number(flags['hours']) * 3600_000)),
    },
    {
      name: 'svc key revoke',
      description: 'Refuse all further requests with a named key. This cannot be undone.',
      args: [idArgument],
      run: async ({ args: [id] }) => print(await store.revoke((await findKey(store, id)).id)),
    },
    explainCommand({ host, explainKey }),
  ];
}

const explainFlags = {
  route: { type: 'string', enum: keyRoutes, default: 'generate', description: 'What the request calls.' },
  provider: text('Id of the provider.'),
  model: text('Model of the provider.'),
  bot: { type: 'integer', minimum: 1, description: 'Id of the chatbot, for the routes chat, openai and anthropic.' },
  prompt: text('Text of the request. Default: Hello.'),
  user: {
    type: 'integer',
    minimum: 1,
    description: 'Id of the signed-in user the request is made for. Default: a guest.',
  },
  plugin: text('Slug of the plugin that sends the request. Default: none.'),
  body: text('JSON of the request, in addition to the other flags.'),
} as const satisfies Record<string, JsonSchema>;

function explainCommand({ host, explainKey }: Pick<KeyPorts, 'host' | 'explainKey'>): CliCommand {
  return {
    name: 'svc key explain',
    description: 'Say what a key would be allowed, by which rule and at what cost. No provider is called.',
    args: [{ name: 'key', description: 'Id of a named key, rest for the REST key, or the key itself.' }],
    flags: explainFlags,
    async run({ args: [key = ''], flags }) {
      const { route = 'generate', user: userId, body, ...given } = flags;
      const user = userId === undefined ? undefined : await host.users.get(Number(userId));
      if (user === null) throw new Error(`No user has the id ${String(userId)}. Run user list to see the ids.`);
      const isId = /^\d{1,15}$/.test(key);
      return explainKey({
        key: key === 'rest' ? { id: 0 } : isId ? { id: Number(key) } : { secret: key },
        route: route as KeyRoute,
        ...(given as Pick<ExplainKeyInit, 'provider' | 'model' | 'bot' | 'prompt' | 'plugin'>),
        body: body === undefined ? undefined : parseBody(String(body)),
        user,
      });
    },
  };
}

function parseBody(json: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(json);
    if (isRecord(body)) return body;
  } catch {
    // The same error as for another value.
  }
  throw new Error('Pass --body as a JSON object, such as {"max_completion_tokens": 100}.');
}

export async function findKey(store: KeyStore, id: string | undefined): Promise<NamedKey> {
  const key = /^[1-9]\d{0,14}$/.test(id ?? '') ? await store.get(Number(id)) : null;
  if (key === null) throw new Error(`No named key has the id ${id ?? ''}. Run svc key list to see the ids.`);
  return key;
}

const lists = ['routes', 'providers', 'models', 'chatbots', 'abilities'];

function settingsOf(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(settingFlags).flatMap((flag) => {
      const value = flags[flag];
      if (value === undefined) return [];
      const name = flag.replaceAll('-', '_');
      if (!lists.includes(name)) return [[name, value]];
      const items = listOf(String(value));
      return [[name, name === 'chatbots' ? chatbotIds(items) : items]];
    }),
  );
}

function listOf(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
