import { lazy, type RestRequest, type RouteArgument, type RouteDefinition } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { registerClientFiles } from '../../../kit/client-files.ts';
import type { FormHandlers } from './handlers.ts';

type Act = Exclude<keyof FormHandlers, 'allows'>;

const namespace = 'svc-widget/v1';
const path = { form_id: { type: 'integer', minimum: 1, description: 'The form.' } } as const;
const token = { type: 'string', maxLength: 200, description: 'Of the session, where no cookie tells it.' } as const;
const submissionId = {
  type: 'string',
  required: true,
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;

/** The routes of `protocol.ts`. What they do is loaded with the first call. */
export function registerFormRoutes(context: ServiceContext): void {
  const handlers = lazy(async () => {
    const { createHandlers } = await import('./handlers.ts');
    const made = createHandlers(context);
    return () => made;
  });
  const route = (
    act: Act,
    below: string,
    init: Pick<RouteDefinition, 'summary' | 'methods' | 'bodyLimit' | 'consumes'> & {
      readonly args?: Readonly<Record<string, RouteArgument>>;
    },
  ): void => {
    context.host.rest.registerRoute(namespace, `/forms/(?P<form_id>\\d+)${below}`, {
      security: ['none'],
      showInIndex: false,
      ...init,
      args: { ...path, ...init.args },
      allowOrigin: async (origin, url) => (await handlers()).allows(origin, Number(url['form_id'])),
      handler: async (request: RestRequest) => (await handlers())[act](request),
    });
  };
  route('view', '', { summary: 'What visitors may know of a form.' });
  route('start', '/start', {
    methods: ['POST'],
    summary: 'Begins or goes on with a visitor’s session.',
    args: { token },
  });
  // Thirteen megabytes: files together twelve, and the other fields.
  route('submit', '/submit', {
    methods: ['POST'],
    summary: 'Submits a form and answers it.',
    bodyLimit: 13 * 1_048_576,
    consumes: ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'],
  });
  route('post', '/post', {
    methods: ['POST'],
    summary: 'Saves an answer as a draft.',
    args: { token, submission_id: submissionId },
  });
  route('download', '/download', {
    summary: 'An answer as a file.',
    args: { submission_id: submissionId, format: { type: 'string', enum: ['md', 'txt', 'html'], default: 'md' } },
  });
  registerClientFiles(context.host, {
    namespace,
    name: 'form',
    of: 'AI forms',
    bundle: async () => (await import('../browser/bundle.ts')).formBundle(),
  });
}
