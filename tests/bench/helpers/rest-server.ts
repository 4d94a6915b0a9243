/** One of the servers that the REST benchmark compares, as a process of its own; prints `ready <port>`. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import express, { type RequestHandler } from 'express';
import type { JsonSchema, Logger, User } from '#plugin-api';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { createSystemClock } from '../../../host/clock.ts';
import { createBodyBudget } from '../../../host/rest/body-budget.ts';
import { createBodyReader } from '../../../host/rest/body-reader.ts';
import { createRestHandler } from '../../../host/rest/express-adapter.ts';
import { createRest } from '../../../host/rest/rest.ts';

const path = '/wp-json/bench/v1/generate';

const args = {
  provider: { type: 'string', enum: ['openai', 'azure', 'google'], required: true },
  model: { type: 'string', minLength: 1, required: true },
  messages: {
    type: 'array',
    minItems: 1,
    required: true,
    items: {
      type: 'object',
      properties: {
        role: { type: 'string', enum: ['system', 'user', 'assistant'], required: true },
        content: { type: 'string', required: true },
      },
    },
  },
  temperature: { type: 'number', minimum: 0, maximum: 2 },
} as const satisfies Record<string, JsonSchema>;

const answer = (params: Record<string, unknown>): unknown => ({
  content: 'hello',
  model: params['model'],
  count: (params['messages'] as unknown[]).length,
});

function bareExpress(): RequestListener {
  const {
    properties: { role, content },
  } = args.messages.items;
  const validate = new Ajv({ strict: false }).compile({
    type: 'object',
    required: ['provider', 'model', 'messages'],
    properties: {
      provider: { type: 'string', enum: args.provider.enum },
      model: { type: 'string', minLength: 1 },
      messages: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['role', 'content'],
          properties: { role: { type: role.type, enum: role.enum }, content: { type: content.type } },
        },
      },
      temperature: { type: 'number', minimum: 0, maximum: 2 },
    },
  });
  const app = express();
  app.use(express.json());
  app.post(path, (request, response) => {
    if (!validate(request.body)) return void response.status(400).json(validate.errors);
    response.json(answer({ ...(request.body as object) }));
  });
  return app;
}

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };
const visitor: User = { id: 0, login: '', email: '', displayName: '', roles: [], can: () => false };

function hostRest(): RequestHandler {
  const site = { name: () => Promise.resolve('Bench') };
  const rest = createRest({
    hooks: createHooks(),
    log: quiet,
    clock: { now: () => 0 },
    siteUrl: 'http://bench.test',
    prefix: 'wp-json',
    site,
  });
  rest.registerRoute('bench/v1', '/generate', { methods: ['POST'], args, handler: ({ params }) => answer(params) });
  const bodies = createBodyReader({
    budget: createBodyBudget(128 * 1_048_576),
    clock: createSystemClock(),
    log: quiet,
  });
  return createRestHandler({ rest, prefix: 'wp-json', currentUser: () => visitor, bodies, log: quiet });
}

const listeners: Record<string, () => RequestListener> = { bare: bareExpress, host: () => express().use(hostRest()) };

const listener = listeners[process.argv[2] ?? '']?.();
if (listener === undefined) throw new Error(`Name one of ${Object.keys(listeners).join(', ')}.`);
const server = createServer(listener).listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready ${String((server.address() as AddressInfo).port)}\n`);
});
