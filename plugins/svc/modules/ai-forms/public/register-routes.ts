import type { AiFormParts } from '../ai-forms.ts';
import { argumentBounds, lazyValue, type RouteArgument, type RouteDefinition } from '#plugin-api';
import { registerClientFiles } from '../../../kit/client-files.ts';
import { forVisitors } from '../../../kit/visitors/translate-errors.ts';
import type { FormHandlers } from './handlers.ts';

type HandlerName = Exclude<keyof FormHandlers, 'allows'>;

const namespace = 'svc-widget/v1';
const path = {
  form_id: { type: 'integer', ...argumentBounds.id, minimum: 1, description: 'Id of the form.' },
} as const;
const token = { type: 'string', maxLength: 200, description: 'Token of the session, without a cookie.' } as const;
const submissionId = {
  type: 'string',
  ...argumentBounds.uuid,
  required: true,
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;

/** The routes of `protocol.ts`. */
export function registerFormRoutes({ host, load }: Pick<AiFormParts, 'host' | 'load'>): void {
  const handlers = lazyValue(async () => (await import('./handlers.ts')).createHandlers(await load()));
  const route = (
    name: HandlerName,
    below: string,
    init: Omit<RouteDefinition, 'args' | 'handler'> & {
      readonly args?: Readonly<Record<string, RouteArgument>>;
    },
  ): void => {
    host.rest.registerRoute(namespace, `/forms/(?P<form_id>\\d+)${below}`, {
      security: ['none'],
      showInIndex: false,
      ...init,
      args: { ...path, ...init.args },
      allowOrigin: async (origin, url) => (await handlers()).allows(origin, Number(url['form_id'])),
      handler: forVisitors(host, async (request) => (await handlers())[name](request)),
    });
  };
  route('view', '', { summary: 'The public part of a form.' });
  route('start', '/start', {
    methods: ['POST'],
    summary: 'Starts or continues a visitor’s session.',
    args: { token },
  });
  // 12 MB of files, and 1 MB for the other fields. Without files, as JSON or as a form, far less (D46).
  route('submit', '/submit', {
    methods: ['POST'],
    summary: 'Submits a form and returns the response.',
    bodyLimit: 13 * 1_048_576,
    anonymousBodyLimit: 13 * 1_048_576,
    parsedBodyLimit: 262_144,
    permissionBeforeBody: forVisitors(host, async (request) => (await handlers()).maySubmit(request)),
    consumes: ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'],
  });
  route('post', '/post', {
    methods: ['POST'],
    summary: 'Saves a response as a draft.',
    args: { token, submission_id: submissionId },
  });
  route('download', '/download', {
    summary: 'A response as a file.',
    args: { submission_id: submissionId, format: { type: 'string', enum: ['md', 'txt', 'html'], default: 'md' } },
  });
  registerClientFiles(host, {
    namespace,
    name: 'form',
    of: 'AI forms',
    bundle: async () => (await import('../browser/bundle.ts')).formBundle(),
  });
}
