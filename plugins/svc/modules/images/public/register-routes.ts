import { lazy, type RestRequest, type RouteArgument } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { VisitorHandlers } from './handlers.ts';

const namespace = 'svc-widget/v1';
const uuid = { type: 'string', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' } as const;

const drawArgs: Readonly<Record<string, RouteArgument>> = {
  prompt: { type: 'string', required: true, maxLength: 4000, description: 'What to draw.' },
  model: { type: 'string', maxLength: 200, description: 'One of those that are offered; left out: the usual one.' },
  size: { type: 'string', maxLength: 20 },
  n: { type: 'integer', minimum: 1, maximum: 4, default: 1 },
  consent: { type: 'boolean', default: false },
  token: { type: 'string', required: true, maxLength: 200, description: 'Of the form.' },
  request: { ...uuid, description: 'Made by the page. The same again is the same request.' },
  back: { type: 'string', maxLength: 2000, description: 'Path of the page the form stands on.' },
};

/** The routes by which visitors draw: pages of the site alone may call them. What they do is loaded with the first call. */
export function registerImageRoutes(context: ServiceContext): void {
  const handlers = lazy(async () => {
    const { createVisitorHandlers } = await import('./handlers.ts');
    const made = createVisitorHandlers(context);
    return () => made;
  });
  const post = (
    act: Exclude<keyof VisitorHandlers, 'page'>,
    route: string,
    init: { readonly summary: string; readonly args: Readonly<Record<string, RouteArgument>> },
  ): void => {
    context.host.rest.registerRoute(namespace, route, {
      methods: ['POST'],
      security: ['none'],
      showInIndex: false,
      ...init,
      allowOrigin: () => false,
      handler: async (request: RestRequest) => (await handlers())[act](request),
    });
  };
  post('draw', '/images', {
    args: drawArgs,
    summary: 'Has images drawn for a visitor. A form is answered with the way to its page, JSON with the state.',
  });
  post('state', '/images/state', {
    args: { id: { ...uuid, required: true } },
    summary: 'How far a visitor’s request is, and its images.',
  });
  post('mine', '/images/mine', { args: {}, summary: 'The visitor’s own last images.' });
  context.host.rest.registerRoute(namespace, `/images/(?P<id>[0-9a-fA-F-]{36})`, {
    methods: ['GET'],
    security: ['none'],
    showInIndex: false,
    summary: 'The page of a visitor’s request, for browsers without JavaScript.',
    allowOrigin: () => false,
    handler: async (request: RestRequest) => (await handlers()).page(request),
  });
}
