import { formFields, readForm, requireFound, withNotice, withFieldErrors, translateText } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, FieldHints, JsonSchema, FieldErrors } from '#plugin-api';
import { deletedBotLabel, readText, recordChoices, type NamedRecord } from '../../admin-ui/form-values.ts';
import type { KeyRoute } from '../../kit/caller.ts';
import { createKeyStore, type IssuedKey, type KeyStore } from './key-store.ts';
import { keyTestView } from './key-test-view.ts';
import { keyList, keysSlug, revokeKeys } from './key-list.ts';
import { valuesOf } from './key-view.ts';
import type { KeyPorts } from './module.ts';
import type { NamedKey } from './named-key.ts';
import { chatbotIds, keyFieldSchemas } from './read-key.ts';
import { createFindUnknownScopes } from './scope-targets.ts';

const template = 'svc/keys';
/** Milliseconds that a secret works on after it was replaced. */
const overlap = 24 * 3600_000;

const routeLabels: Readonly<Record<KeyRoute, string>> = {
  generate: 'Generate text',
  images: 'Generate images',
  embeddings: 'Create embeddings',
  'vector-stores': 'Write to vector stores',
  chat: 'Talk to chatbots',
  logs: 'Read chat logs',
  events: 'List webhook events',
  openai: 'OpenAI-compatible routes',
  anthropic: 'Anthropic-compatible routes',
  abilities: 'Abilities',
  mcp: 'MCP server',
};

const { routes, providers, models, abilities } = keyFieldSchemas;
const short = { ui: { rows: 2 } };
const formSchema: JsonSchema = {
  type: 'object',
  properties: {
    ...keyFieldSchemas,
    routes: { ...routes, ui: { labels: routeLabels } },
    providers: { ...providers, ...short },
    models: { ...models, ...short },
    // A form sends ids as text.
    chatbots: { type: 'array', title: 'Chatbots', items: { type: 'string' }, ...short },
    abilities: { ...abilities, ...short },
  },
  required: ['name'],
};

const hints: Readonly<Record<string, FieldHints>> = {
  name: { help: 'Who uses the key, such as “Shop” or “Nightly import”.' },
  routes: { help: 'What the key may call.' },
  models: {
    help:
      'Models that the key may use; * matches any characters. Leave empty to allow all, or none beside the chatbots if some ' +
      'are selected.',
    placeholder: 'gpt-5*',
  },
  abilities: {
    help: 'Abilities that read what only you see, or change or delete data. * matches those that read. Leave empty for none.',
    placeholder: 'host/trash-post',
  },
  requests_per_minute: { help: 'Enter 0 for no limit.' },
  lenient: {
    help:
      'For programs that send the same parameters to every model, which is an error otherwise. ' +
      'For the OpenAI-compatible and Anthropic-compatible routes.',
  },
  expires: {
    help: 'The key works until the end of this day. Leave empty if it never expires.',
    placeholder: '2027-12-31',
  },
};

/** The page "API keys": named keys with their scopes (D31). The single REST key stays on the page of the service. */
export function createPage(ports: KeyPorts): AdminPageBody {
  const store = createKeyStore(ports.host, createFindUnknownScopes(ports));
  return {
    render: async ({ query }) => ({ template, data: await keysView(ports, store, { query }) }),
    actions: {
      save: (request) => save(request, ports, store),
      rotate: async (request) => {
        request.requireFreshSignIn();
        const { id } = await findKey(request, store);
        return showSecret(
          await store.rotate(id, overlap),
          'It replaces the one before, which works for 24 more hours.',
        );
      },
      revoke: (request) => revokeKeys(request, store),
    },
  };
}

async function findKey(request: AdminRequest, store: KeyStore): Promise<NamedKey> {
  const id = readText(request, 'id');
  return requireFound(/^[1-9]\d{0,14}$/.test(id) ? await store.get(Number(id)) : null, {
    code: 'rest_svc_key_not_found',
    status: 404,
    message: 'This key does not exist. Reload the page.',
  });
}

function showSecret({ key, secret }: IssuedKey, more: string): AdminActionResult {
  return withNotice('success', `Copy the key of “${key.name}” now. You will not be able to view it again. ${more}`, {
    reveal: { label: `Key of ${key.name}`, value: secret },
    redirect: keysSlug,
  });
}

async function save(request: AdminRequest, ports: KeyPorts, store: KeyStore): Promise<AdminActionResult> {
  request.requireFreshSignIn();
  const id = readText(request, 'id');
  const typed = readForm(formSchema, request.form);
  const values = { ...typed, chatbots: chatbotIds((typed['chatbots'] ?? []) as string[]) };
  return withFieldErrors(
    async () => {
      if (id === '') return showSecret(await store.create(values, request.user.id), '');
      const { name } = await store.update((await findKey(request, store)).id, values);
      return withNotice('success', `“${name}” saved. It applies to the next request.`, { redirect: keysSlug });
    },
    async (errors) => ({
      template,
      data: await keysView(ports, store, { query: id === '' ? { new: '1' } : { edit: id }, typed, errors }),
    }),
  );
}

interface ViewInit {
  readonly query: Readonly<Record<string, unknown>>;
  readonly typed?: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

async function keysView(ports: KeyPorts, store: KeyStore, { query, typed, errors = {} }: ViewInit) {
  const { host, providers: registry } = ports;
  const [keys, timezone, bots] = await Promise.all([store.list(), host.site.timezone(), ports.botReplies.list()]);
  const edited = keys.find(({ id, revokedAt }) => revokedAt === null && String(id) === query['edit']);
  const tested = keys.find(({ id }) => String(id) === query['test']);
  const isOpen = edited !== undefined || query['new'] !== undefined || keys.length === 0;
  const values = typed ?? (edited ? await valuesOf(edited, host) : {});
  return {
    keys: keys.length > 0 && keyList({ query }, { keys, bots, now: host.clock.now(), timezone }),
    test: tested && (await keyTestView(tested, { ports, query, bots, labels: routeLabels })),
    form: isOpen && {
      id: edited?.id ?? '',
      title: edited?.name ?? translateText('New key'),
      submit: edited ? 'Save key' : 'Create key',
      fields: formFields(formSchema, {
        ...{ values: { ...values, chatbots: textsOf(values['chatbots']) }, errors, id: 'key' },
        hints: {
          ...hints,
          providers: {
            help: 'Providers that the key may use. Select none to allow all.',
            choices: registry.all().map(({ id, label }) => ({ value: id, label })),
          },
          chatbots: chatbotHints(bots, [...(edited?.scopes.chatbots ?? []), ...textsOf(values['chatbots'])]),
        },
      }),
      canCancel: keys.length > 0,
    },
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** @param stored ids of the key and of a form that was refused; those of deleted chatbots stay, or the key would get all. */
function chatbotHints(bots: readonly NamedRecord[], stored: readonly (number | string)[]): FieldHints {
  const choices = recordChoices(bots, stored, deletedBotLabel);
  if (choices === null)
    return { help: 'Ids of the chatbots that the key may use, one per line. Leave empty to allow all.' };
  return {
    choices,
    help:
      choices.length === 0
        ? 'No chatbot yet. Create one on the page “Chatbots” to limit the key to it.'
        : 'Chatbots that the key may use, and no model outside of them unless you enter models. Select none to allow all.',
  };
}
