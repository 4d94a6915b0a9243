import { randomUUID } from 'node:crypto';
import { RestError, RestResponse, type RestRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { errors } from '../../../kit/errors.ts';
import { clientNetwork } from '../../../kit/visitors/address.ts';
import { imagesOf } from '../images-of.ts';
import type { StoredImage } from '../store/image.ts';
import { pageResponse, type ShownImage } from './request-page.ts';
import type { Wish } from './visitor-draws.ts';
import type { VisitorRequest } from './visitor-requests.ts';
import type { Visitor } from './visitor.ts';
import { visitorImagesOf } from './visitors-of.ts';

/** What the routes of visitors' images do; loaded with the first call. */
export interface VisitorHandlers {
  draw(request: RestRequest): Promise<RestResponse>;
  state(request: RestRequest): Promise<RestResponse>;
  mine(request: RestRequest): Promise<RestResponse>;
  page(request: RestRequest): Promise<RestResponse>;
}

/** How far a request is. */
export interface RequestState {
  readonly id: string;
  readonly state: VisitorRequest['state'];
  readonly prompt: string;
  readonly n: number;
  readonly images: readonly ShownImage[];
  readonly message: string;
  /** Images the visitor may have drawn today besides; null: any number. */
  readonly left: number | null;
}

const drawsPerMinute = 30;
const looksPerMinute = 600;
const mostShown = 24;
const unstored = { 'Cache-Control': 'no-store' };

export function createVisitorHandlers(context: ServiceContext): VisitorHandlers {
  const { settings, visitors, requests, draws, forms, floods } = visitorImagesOf(context);
  const { store } = imagesOf(context);

  async function enter(request: RestRequest, most: number): Promise<Visitor> {
    floods.count(`${String(most)} ${clientNetwork(request.ip)}`, most);
    return visitors.enter(request);
  }
  const imagesOfRequest = async ({ id, state }: VisitorRequest): Promise<readonly ShownImage[]> =>
    state === 'done' ? (await store.ofRequest(id)).map(shown) : [];
  const leftFor = async (visitor: Visitor): Promise<number | null> => draws.left(visitor, await settings.get());

  async function answer(visitor: Visitor, request: VisitorRequest, status = 200): Promise<RestResponse> {
    const { id, state, prompt, n, message } = request;
    const body: RequestState = {
      id,
      state,
      prompt,
      n,
      message,
      images: await imagesOfRequest(request),
      left: await leftFor(visitor),
    };
    return new RestResponse({ status, body, headers: { ...unstored, ...visitor.headers } });
  }

  /** The request of this visitor; one of somebody else is not there. */
  async function ownRequest(id: string, sessionId: string | undefined): Promise<VisitorRequest> {
    const found = await requests.get(id.toLowerCase());
    if (found === null || found.sessionId !== sessionId) throw errors.image_not_found();
    if (found.state !== 'drawing' || found.until >= context.host.clock.now()) return found;
    // Its node has died: what it had taken is given back.
    await draws.sweep();
    return (await requests.get(found.id)) ?? found;
  }

  async function begin(request: RestRequest): Promise<{ readonly visitor: Visitor; readonly begun: VisitorRequest }> {
    const visitor = await enter(request, drawsPerMinute);
    if (!(await forms.isValid(textOf(request, 'token'))))
      throw errors.image_refused({
        values: { reason: 'This page has been open for too long. Reload it and try again.' },
      });
    return { visitor, begun: await draws.begin(visitor, wishOf(request), await settings.get()) };
  }

  return {
    async draw(request) {
      if (request.json === null)
        return asPage(context, request, async (back) => redirectTo(context, { ...(await begin(request)), back }));
      const { visitor, begun } = await begin(request);
      return answer(visitor, begun, 202);
    },
    async state(request) {
      const visitor = await enter(request, looksPerMinute);
      return answer(visitor, await ownRequest(textOf(request, 'id'), visitor.session.id));
    },
    async mine(request) {
      const visitor = await enter(request, looksPerMinute);
      const { user, session } = visitor;
      const owner = user.id > 0 ? { userId: user.id } : { userId: 0, sessionId: session.id };
      const images = await store.list({ ...owner, origin: 'frontend_image_generator' }, { limit: mostShown });
      return new RestResponse({
        body: { images: images.map(shown), left: await leftFor(visitor) },
        headers: { ...unstored, ...visitor.headers },
      });
    },
    page: (request) =>
      asPage(context, request, async (back) => {
        floods.count(`page ${clientNetwork(request.ip)}`, looksPerMinute);
        const found = await ownRequest(textOf(request, 'id'), (await visitors.sessionOf(request))?.id);
        return pageResponse(context.host, { request: found, images: await imagesOfRequest(found), back });
      }),
  };
}

/** Refusals are pages too: a browser without JavaScript shows what comes. */
async function asPage(
  { host }: ServiceContext,
  request: RestRequest,
  work: (back: string) => Promise<RestResponse>,
): Promise<RestResponse> {
  const back = backOf(request);
  try {
    return await work(back);
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return pageResponse(host, { failure: error, back });
  }
}

function redirectTo(
  { host }: ServiceContext,
  { visitor, begun, back }: { readonly visitor: Visitor; readonly begun: VisitorRequest; readonly back: string },
): RestResponse {
  const query = back === '' ? '' : `?back=${encodeURIComponent(back)}`;
  return new RestResponse({
    status: 303,
    headers: { ...unstored, ...visitor.headers, Location: host.rest.url(`/svc-widget/v1/images/${begun.id}`) + query },
  });
}

function wishOf(request: RestRequest): Wish {
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

function shown({ url, prompt }: StoredImage): ShownImage {
  return { url, alt: [...prompt].slice(0, 250).join('') };
}

/** A path of the site itself, or nothing: what a form brings leads nowhere else. */
function backOf({ params }: RestRequest): string {
  const { back } = params;
  return typeof back === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(back) ? back : '';
}
