import type { Images } from '../images.ts';
import { randomUUID } from 'node:crypto';
import { clientNetwork, RestError, RestResponse, type RestRequest, type HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { StoredImage } from '../store/image.ts';
import { disclosureLine } from './disclosure.ts';
import type { ImageRequest } from './visitor-generation.ts';
import type { VisitorRequest } from './visitor-requests.ts';
import type { Visitor } from './visitor.ts';
import type { RouteHandlers } from '../../../kit/route.ts';

interface ShownImage {
  readonly url: string;
  readonly alt: string;
}

interface RequestPage {
  readonly request?: VisitorRequest;
  readonly images?: readonly ShownImage[];
  readonly failure?: RestError;
  /** Path of the page with the form, or empty. */
  readonly back: string;
}

/** No scripts, and only files of this site. */
const policy =
  "default-src 'none'; img-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Interval at which the page reloads while images are generated, in seconds. */
const refresh = 3;

/** The page of a request, for browsers without JavaScript. */
async function pageResponse(
  {
    host,
    visitorSettings,
  }: Pick<Images, 'visitorSettings'> & { readonly host: Pick<HostApi, 'views' | 'site' | 'i18n'> },
  { request, images = [], failure, back }: RequestPage,
): Promise<RestResponse> {
  const isRunning = request?.state === 'drawing';
  const message = failure?.message ?? request?.message ?? '';
  const content = await host.views.render('svc/image-request', {
    siteName: await host.site.name(),
    title: host.i18n.__(isRunning ? 'Generating your image' : resultTitle(images.length)),
    prompt: request?.prompt ?? '',
    refresh: isRunning ? refresh : null,
    images,
    disclosure: images.length === 0 ? '' : await disclosureLine({ host, settings: async () => visitorSettings }),
    message,
    back,
  });
  return new RestResponse({
    status: failure?.status ?? 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy,
      'X-Robots-Tag': 'noindex',
      'Referrer-Policy': 'same-origin',
    },
    content,
  });
}

function resultTitle(images: number): string {
  if (images === 0) return 'No image was generated';
  return images === 1 ? 'Your image' : 'Your images';
}

/** Handlers of the image routes for visitors, loaded at the first call. */
export type VisitorHandlers = RouteHandlers<'draw' | 'state' | 'mine' | 'page' | 'file'>;

/** Body of a response about a request. */
export interface RequestState {
  readonly id: string;
  readonly state: VisitorRequest['state'];
  readonly prompt: string;
  readonly n: number;
  readonly images: readonly ShownImage[];
  readonly message: string;
  /** Number of images the visitor may still generate today. Null: no limit. */
  readonly left: number | null;
}

const requestsPerMinute = 30;
const readsPerMinute = 600;
const maxShown = 24;
const noStore = { 'Cache-Control': 'no-store' };
/** The browser of the visitor may store the file, shared caches may not. */
const fileHeaders = {
  'Cache-Control': 'private, max-age=3600',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
};

export function createVisitorHandlers(parts: Images): VisitorHandlers {
  const { store, visitorSettings, visitors, requests, visitorGeneration, formTokens, requestCounts } = parts;

  async function enter(request: RestRequest, most: number): Promise<Visitor> {
    requestCounts.count(`${String(most)} ${clientNetwork(request.ip)}`, most);
    return visitors.enter(request);
  }
  /** The browser's own images by its cookie, a user's images from other browsers by the cookie of the site. */
  const shown = (
    { sessionId, request, position, url, prompt }: StoredImage,
    session: string | undefined,
  ): ShownImage => ({
    url:
      sessionId !== null && sessionId === session
        ? parts.host.rest.url(`/svc-widget/v1/images/${request}/${String(position)}`)
        : url,
    alt: [...prompt].slice(0, 250).join(''),
  });
  const findImages = async ({ id, state, sessionId }: VisitorRequest): Promise<readonly ShownImage[]> =>
    state === 'done' ? (await store.ofRequest(id)).map((image) => shown(image, sessionId)) : [];
  const leftFor = async (visitor: Visitor): Promise<number | null> =>
    visitorGeneration.left(visitor, await visitorSettings.get());

  async function respond(visitor: Visitor, request: VisitorRequest, status = 200): Promise<RestResponse> {
    const { id, state, prompt, n, message } = request;
    const body: RequestState = {
      id,
      state,
      prompt,
      n,
      message,
      images: await findImages(request),
      left: await leftFor(visitor),
    };
    return new RestResponse({ status, body, headers: { ...noStore, ...visitor.headers } });
  }

  /** @throws RestError 404, also for the request of another visitor. */
  async function ownRequest(id: string, sessionId: string | undefined): Promise<VisitorRequest> {
    const found = await requests.get(id.toLowerCase());
    if (found === null || found.sessionId !== sessionId) throw errors.image_not_found();
    return found;
  }

  async function begin(request: RestRequest): Promise<{ readonly visitor: Visitor; readonly begun: VisitorRequest }> {
    const visitor = await enter(request, requestsPerMinute);
    if (!(await formTokens.isValid(textOf(request, 'token'))))
      throw errors.image_refused({
        values: { reason: 'This page was open for too long. Reload it and try again.' },
      });
    return {
      visitor,
      begun: await visitorGeneration.begin(visitor, readRequest(request), await visitorSettings.get()),
    };
  }

  return {
    async draw(request) {
      if (request.json === null)
        return asPage(parts, request, async (back) => redirectTo(parts, { ...(await begin(request)), back }));
      const { visitor, begun } = await begin(request);
      return respond(visitor, begun, 202);
    },
    async state(request) {
      const visitor = await enter(request, readsPerMinute);
      return respond(visitor, await ownRequest(textOf(request, 'id'), visitor.session.id));
    },
    async mine(request) {
      const visitor = await enter(request, readsPerMinute);
      const { user, session } = visitor;
      const owner = user.id > 0 ? { userId: user.id } : { userId: 0, sessionId: session.id };
      const images = await store.list({ ...owner, origin: 'frontend_image_generator' }, { limit: maxShown });
      return new RestResponse({
        body: { images: images.map((image) => shown(image, session.id)), left: await leftFor(visitor) },
        headers: { ...noStore, ...visitor.headers },
      });
    },
    page: (request) =>
      asPage(parts, request, async (back) => {
        requestCounts.count(`page ${clientNetwork(request.ip)}`, readsPerMinute);
        const found = await ownRequest(textOf(request, 'id'), (await visitors.sessionOf(request))?.id);
        return pageResponse(parts, { request: found, images: await findImages(found), back });
      }),
    async file(request) {
      requestCounts.count(`file ${clientNetwork(request.ip)}`, readsPerMinute);
      const session = await visitors.sessionOf(request);
      const image = (await store.ofRequest(textOf(request, 'id').toLowerCase())).find(
        ({ position, sessionId }) => position === Number(request.params['position']) && sessionId === session?.id,
      );
      const bytes = image === undefined ? null : await parts.host.content.media.read(image.mediaId);
      if (image === undefined || bytes === null) throw errors.image_not_found();
      return new RestResponse({ content: bytes, headers: { ...fileHeaders, 'Content-Type': image.mimeType } });
    },
  };
}

/** Shows refusals as pages too, for browsers without JavaScript. */
async function asPage(
  parts: Images,
  request: RestRequest,
  work: (back: string) => Promise<RestResponse>,
): Promise<RestResponse> {
  const back = backOf(request);
  try {
    return await work(back);
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return pageResponse(parts, { failure: error, back });
  }
}

function redirectTo(
  { host }: Images,
  { visitor, begun, back }: { readonly visitor: Visitor; readonly begun: VisitorRequest; readonly back: string },
): RestResponse {
  const query = back === '' ? '' : `?back=${encodeURIComponent(back)}`;
  return new RestResponse({
    status: 303,
    headers: { ...noStore, ...visitor.headers, Location: host.rest.url(`/svc-widget/v1/images/${begun.id}`) + query },
  });
}

function readRequest(request: RestRequest): ImageRequest {
  const { params } = request;
  return {
    id: (textOf(request, 'request') || randomUUID()).toLowerCase(),
    prompt: textOf(request, 'prompt'),
    model: textOf(request, 'model'),
    size: textOf(request, 'size'),
    n: Number(params['n'] ?? 1),
    consent: params['consent'] === true,
  };
}

function textOf({ params }: RestRequest, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

/** A path of this site, or empty: a form must not redirect elsewhere. */
function backOf({ params }: RestRequest): string {
  const { back } = params;
  return typeof back === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(back) ? back : '';
}
