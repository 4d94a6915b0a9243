import type { ImageParts } from '../images.ts';
import { argumentBounds, lazyValue, type RouteArgument } from '#plugin-api';
import { forVisitors } from '../../../kit/visitors/translate-errors.ts';
import type { VisitorHandlers } from './handlers.ts';

const namespace = 'svc-widget/v1';
const uuid = {
  type: 'string',
  ...argumentBounds.uuid,
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;

const drawArgs: Readonly<Record<string, RouteArgument>> = {
  prompt: { type: 'string', required: true, maxLength: 4000, description: 'Description of the image.' },
  model: { type: 'string', maxLength: 200, description: 'One of the offered models. Default: the first.' },
  size: { type: 'string', maxLength: 20 },
  n: { type: 'integer', minimum: 1, maximum: 4, default: 1 },
  consent: { type: 'boolean', default: false },
  token: { type: 'string', required: true, maxLength: 200, description: 'Token of the form.' },
  request: { ...uuid, description: 'UUID of the request. A repeated UUID returns the same request.' },
  back: { type: 'string', maxLength: 2000, description: 'Path of the page with the form.' },
};

/** Routes for visitors, callable from pages of this site only. */
export function registerImageRoutes({ host, load }: Pick<ImageParts, 'host' | 'load'>): void {
  const handlers = lazyValue(async () => (await import('./handlers.ts')).createVisitorHandlers(await load()));
  const post = (
    name: Exclude<keyof VisitorHandlers, 'page' | 'file'>,
    route: string,
    init: { readonly summary: string; readonly args: Readonly<Record<string, RouteArgument>> },
  ): void => {
    host.rest.registerRoute(namespace, route, {
      methods: ['POST'],
      security: ['none'],
      showInIndex: false,
      ...init,
      allowOrigin: () => false,
      handler: forVisitors(host, async (request) => (await handlers())[name](request)),
    });
  };
  post('draw', '/images', {
    args: drawArgs,
    summary: 'Generates images for a visitor. JSON gets the state, a form a redirect to the page of the request.',
  });
  post('state', '/images/state', {
    args: { id: { ...uuid, required: true } },
    summary: 'State and images of a visitor’s request.',
  });
  post('mine', '/images/mine', { args: {}, summary: 'Latest images of the visitor.' });
  const get = (name: 'page' | 'file', route: string, summary: string): void => {
    host.rest.registerRoute(namespace, route, {
      methods: ['GET'],
      security: ['none'],
      showInIndex: false,
      summary,
      allowOrigin: () => false,
      handler: forVisitors(host, async (request) => (await handlers())[name](request)),
    });
  };
  get('page', `/images/(?P<id>[0-9a-fA-F-]{36})`, 'Page of a visitor’s request, for browsers without JavaScript.');
  get(
    'file',
    `/images/(?P<id>[0-9a-fA-F-]{36})/(?P<position>[0-9])`,
    'File of an image, for the browser that requested it.',
  );
}
