import { argumentBounds, lazy, lazyValue, restError, type RestError } from '#plugin-api';
import type { RouteArgument, RouteDefinition, HostApi, ShortcodeAttributes, User } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import '../hooks.ts';
import { widgetNamespace } from './protocol.ts';
import { forVisitors } from '../../../kit/visitors/translate-errors.ts';
import type { WidgetHandlers } from './handlers.ts';
import { turnJob, type TurnArgs } from './turn-jobs.ts';
import { registerClientFiles } from '../../../kit/client-files.ts';

/** Hourly job that deletes old counters and idempotency keys. */
export const widgetSweepHook = 'svc_widget_sweep';

/** Registers routes, shortcode and cron hook of the widget. Their code is loaded at the first use. */
export async function registerWidget(parts: Pick<ChatbotParts, 'host' | 'bots' | 'widget'>): Promise<void> {
  const { host } = parts;
  registerWidgetRoutes(parts);
  const render = lazy(async () => (await import('./shortcode.ts')).createShortcode(parts));
  host.content.addShortcode(
    'svc_chatbot',
    // eslint-disable-next-line max-params -- WordPress's arguments, in its order
    (attributes: ShortcodeAttributes, _content, _tag, { viewer }: { readonly viewer?: User }) =>
      render(attributes, viewer),
  );
  host.jobs.define<TurnArgs>({
    name: turnJob,
    label: 'Chat answers',
    // Longer than any time limit of text calls.
    timeout: 3_600,
    failed: async ({ reservation }) => {
      if (reservation !== null) await (await parts.widget()).limits.settle(reservation, 0);
    },
  });
  await host.jobs.every('hourly', {
    name: widgetSweepHook,
    label: 'Delete old counters of chat visitors',
    run: async () => {
      const { limits, idempotencyKeys } = await parts.widget();
      await limits.sweep();
      await idempotencyKeys.sweep();
    },
  });
}

type HandlerName = Exclude<keyof WidgetHandlers, 'allowsOrigin'>;
type Args = Readonly<Record<string, RouteArgument>>;

const uuid = {
  type: 'string',
  ...argumentBounds.uuid,
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;
const path = { bot_id: { type: 'integer', ...argumentBounds.id, minimum: 1, description: 'The chatbot.' } } as const;
const token = { type: 'string', maxLength: 200, description: 'Session token, unless the cookie carries it.' } as const;
const page = { type: 'string', maxLength: 4000, description: 'The page that the visitor is on.' } as const;
const conversation = { type: 'string', maxLength: 100, description: 'UUID of the conversation.' } as const;

const startArgs: Args = { ...path, token, conversation, new: { type: 'boolean' }, page_url: page };
const sendArgs: Args = {
  ...path,
  token,
  page_url: page,
  conversation: {
    type: ['string', 'null'],
    maxLength: 100,
    description: 'Omit for the first message of a new conversation.',
  },
  message_id: { ...uuid, required: true, description: 'Created by the page. The same id is the same message.' },
  text: { type: 'string', required: true, minLength: 1, maxLength: 32_000, pattern: '\\S' },
  consent: { type: 'boolean' },
  regenerate: { type: 'boolean' },
  replaces: { type: 'string', maxLength: 100, description: 'Id of the answer to regenerate.' },
  history: {
    type: 'array',
    maxItems: 400,
    description: 'The conversation so far, if the bot does not store conversations.',
    items: {
      type: 'object',
      properties: {
        role: { type: 'string', enum: ['user', 'assistant'] },
        content: { type: 'string', maxLength: 64_000 },
        signature: { type: 'string', maxLength: 100, description: 'Of an answer, as it came from the server.' },
      },
      required: ['role', 'content'],
    },
  },
};
const stopArgs: Args = {
  ...path,
  token,
  conversation: { ...conversation, required: true },
  message_id: { ...uuid, required: true },
};
const feedbackArgs: Args = {
  ...path,
  token,
  conversation: { ...conversation, required: true },
  message_id: { type: 'string', required: true, maxLength: 100 },
  value: { type: 'string', enum: ['up', 'down', 'none'], required: true },
  comment: { type: 'string', maxLength: 2000 },
};
const solvedArgs: Args = {
  ...path,
  token,
  conversation: { ...conversation, required: true },
  solved: { type: 'boolean', required: true, description: 'Whether the question was solved.' },
};
const formArgs: Args = {
  ...path,
  token,
  page_url: page,
  conversation: { ...conversation, required: true },
  form_id: { type: 'string', ...argumentBounds.key },
  submission_id: { ...uuid, required: true, description: 'Created by the page. The same id is the same submission.' },
  values: { type: 'object', required: true },
  page_title: { type: 'string', maxLength: 500, description: 'Title of the page that the visitor is on.' },
  page_id: { type: 'integer', ...argumentBounds.id, minimum: 1 },
};

/** Registers the routes of `protocol.ts`. Their handlers are loaded at the first call. */
export function registerWidgetRoutes(parts: Pick<ChatbotParts, 'host' | 'widget'>): void {
  const handlers = lazyValue(async () => (await import('./handlers.ts')).createHandlers(await parts.widget()));
  const post = (
    name: HandlerName,
    route: string,
    init: Omit<RouteDefinition, 'args' | 'handler'> & { readonly args: Args },
  ): void => {
    parts.host.rest.registerRoute(widgetNamespace, `/bots/(?P<bot_id>\\d+)/${route}`, {
      methods: ['POST'],
      security: ['none'],
      showInIndex: false,
      ...init,
      allowOrigin: async (origin, url) => (await handlers()).allowsOrigin(origin, Number(url['bot_id'])),
      // Browsers send forms of other sites without a CORS check, but not JSON.
      validate: ({ json }) => (typeof json === 'object' && json !== null ? true : notJson()),
      handler: forVisitors(parts.host, async (request) => (await handlers())[name](request)),
    });
  };
  post('start', 'start', { args: startArgs, summary: 'Start or continue a visitor’s session.' });
  post('messages', 'messages', {
    args: sendArgs,
    summary: 'Send a message. The answer is streamed or returned as a whole.',
    bodyLimit: 4 * 1_048_576,
    anonymousBodyLimit: 4 * 1_048_576,
    permissionBeforeBody: forVisitors(parts.host, async (request) => (await handlers()).maySend(request)),
  });
  post('stop', 'stop', { args: stopArgs, summary: 'Stop the running answer.' });
  post('feedback', 'feedback', { args: feedbackArgs, summary: 'Rate an answer.' });
  post('solved', 'solved', { args: solvedArgs, summary: 'Say whether the question was solved.' });
  post('forms', 'forms/(?P<form_id>[\\w-]+)', { args: formArgs, summary: 'Submit a form.' });
}

function notJson(): RestError {
  return restError(
    415,
    'rest_unsupported_media_type',
    'Send the body as JSON, with the header Content-Type: application/json.',
  );
}

/** `GET /widget.js` and `GET /widget.css` of the button, `GET /chat.js` and `GET /chat.css` of the window. */
export function registerScriptRoutes({ host }: { readonly host: Pick<HostApi, 'rest' | 'log'> }): void {
  const bundles = (): Promise<typeof import('../browser/bundle.ts')> => import('../browser/bundle.ts');
  registerClientFiles(host, {
    namespace: widgetNamespace,
    name: 'widget',
    of: 'the widget of chatbots',
    bundle: async () => (await bundles()).widgetBundle(),
  });
  registerClientFiles(host, {
    namespace: widgetNamespace,
    name: 'chat',
    of: 'the window of chatbots',
    bundle: async () => (await bundles()).chatBundle(),
  });
}
