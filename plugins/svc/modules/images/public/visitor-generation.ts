import { RestError, type HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import { hasBannedWord } from '../../../kit/fold-text.ts';
import type { Drawing } from '../generation/image-generator.ts';
import type { ImageJob } from '../generation/image-job.ts';
import type { Visitor } from './visitor.ts';
import type { VisitorRequest, VisitorRequests } from './visitor-requests.ts';
import { readModel, type VisitorSettings } from './visitor-settings.ts';
import { clientNetwork } from '../../../kit/visitors/address.ts';
import { createLimitCounters, type CountedLimit, type LimitCounters } from '../../../kit/visitors/limit-counters.ts';
import { findPeriod } from '../../../kit/visitors/period.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import '../hooks.ts';
import { imageTables } from '../image-tables.ts';

/** What a visitor wants, as it was sent. */
export interface Wish {
  /** UUID. */
  readonly id: string;
  readonly prompt: string;
  /** `provider:model`; empty: the usual one. */
  readonly model: string;
  /** Empty: the usual one. */
  readonly size: string;
  readonly n: number;
  readonly consent: boolean;
}

export interface VisitorDraws {
  /**
   * Takes a wish and begins to draw, without waiting for it. The same wish again is answered with what there is of it.
   *
   * @throws RestError 403 `rest_svc_images_not_offered`, `rest_svc_image_refused`, `rest_svc_consent_required`, 429 `rest_svc_image_limit_reached`, 400.
   */
  begin(visitor: Visitor, wish: Wish, settings: VisitorSettings): Promise<VisitorRequest>;
  /** How many more images the visitor may have today; null: any number. */
  left(visitor: Visitor, settings: VisitorSettings): Promise<number | null>;
  /** Gives back what requests had taken whose node died. */
  sweep(): Promise<void>;
  /** Ends what is being drawn, and waits until it is settled. */
  stop(): Promise<void>;
}

export interface VisitorDrawParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
  readonly requests: VisitorRequests;
  readonly limits: VisitorLimits;
  readonly drawing: Pick<Drawing, 'draw'>;
  /** Milliseconds that images may take. */
  readonly timeout: () => Promise<number>;
}

/** Beyond the time limit of the images themselves, for what comes before and after. */
const grace = 60_000;
const keptFor = 30 * 24 * 3600_000;
const interrupted = 'The drawing was interrupted. Nothing of it counts: try again.';
const wishless = (name: string, reason: string): RestError =>
  new RestError({ code: 'rest_invalid_param', status: 400, message: reason, data: { params: { [name]: reason } } });

export function createVisitorDraws(parts: VisitorDrawParts): VisitorDraws {
  const { host, requests, limits } = parts;
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** Puts what was really drawn in place of what was taken, once. */
  async function end(
    request: VisitorRequest,
    { made, message }: { readonly made: number; readonly message: string },
  ): Promise<void> {
    await host.database.transaction(async () => {
      const isFirst = await requests.end(request.id, { state: made > 0 ? 'done' : 'failed', message });
      if (isFirst && request.taken !== null) await limits.counters.settle(request.taken, made);
    });
  }

  async function run(request: VisitorRequest, job: ImageJob): Promise<void> {
    try {
      const { images, message } = await parts.drawing.draw(job, { signal: stopping.signal });
      await end(request, { made: images.length, message: images.length < request.n ? message : '' });
    } catch (error) {
      host.log.warn('Images for a visitor could not be drawn.', { request: request.id, error });
      await end(request, { made: 0, message: toldOf(error) });
    }
  }

  async function take(visitor: Visitor, wish: Wish, settings: VisitorSettings): Promise<VisitorRequest> {
    const { id, prompt, n } = wish;
    const limit = await limits.of(visitor, settings);
    const until = host.clock.now() + (await parts.timeout()) + grace;
    return host.database.transaction(async () => {
      const taken = limit === null ? null : await limits.counters.reserve(limit, { least: n, most: n });
      if (limit !== null && taken === null)
        throw overLimit(await limits.counters.left(limit), { settings, wait: limit.endsAt - host.clock.now() });
      const request = { id, userId: visitor.user.id, sessionId: visitor.session.id, prompt, n, taken, until };
      if (!(await requests.add(request)))
        throw errors.image_refused({ values: { reason: 'This was sent twice at once. Wait for the first.' } });
      return { ...request, state: 'drawing' as const, message: '', createdAt: host.clock.now() };
    });
  }

  return {
    async begin(visitor, wish, settings) {
      const known = await requests.get(wish.id);
      if (known?.sessionId === visitor.session.id) return known;
      if (known !== null) throw errors.image_not_found();
      const job = jobOf(visitor, wish, settings);
      const request = await take(visitor, wish, settings);
      const work = run(request, job)
        .catch((error: unknown) => {
          host.log.error('A request for images of a visitor could not be ended; its lease will.', {
            request: request.id,
            error,
          });
        })
        .finally(() => underWay.delete(work));
      underWay.add(work);
      return request;
    },
    async left(visitor, settings) {
      const limit = await limits.of(visitor, settings);
      return limit === null ? null : limits.counters.left(limit);
    },
    async sweep() {
      for (const request of await requests.abandoned(500)) await end(request, { made: 0, message: interrupted });
      await limits.counters.sweep(host.clock.now() - keptFor);
      await requests.forget(host.clock.now() - keptFor);
    },
    async stop() {
      stopping.abort();
      await Promise.all(underWay);
    },
  };
}

/** @param wait milliseconds until the day is over. */
function overLimit(
  left: number,
  { settings, wait }: { readonly settings: VisitorSettings; readonly wait: number },
): RestError {
  const reason =
    left > 0
      ? `You may have ${String(left)} more ${left === 1 ? 'image' : 'images'} today. Ask for fewer.`
      : settings.texts.limit;
  return errors.image_limit_reached({
    values: { reason },
    data: { left },
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) },
  });
}

/** The wish as a job, everything checked that costs nothing. */
function jobOf({ user, session }: Visitor, wish: Wish, settings: VisitorSettings): ImageJob {
  if (!settings.enabled || settings.models.length === 0) throw errors.images_not_offered();
  if (settings.consent.required && !wish.consent)
    throw new RestError({
      code: 'rest_svc_consent_required',
      status: 403,
      message: 'Tick the box first: the terms have to be accepted.',
    });
  const prompt = wish.prompt.trim();
  if (prompt === '') throw wishless('prompt', 'Describe what is to be drawn.');
  if ([...prompt].length > 1000) throw wishless('prompt', 'Describe it in at most 1,000 characters.');
  if (hasBannedWord(prompt, settings.banned_words))
    throw errors.image_refused({ values: { reason: settings.texts.refused } });
  const { provider, model } = readModel(oneOf(wish.model, settings.models, 'model'));
  const size = settings.sizes.length === 0 ? '' : oneOf(wish.size, settings.sizes, 'size');
  if (wish.n < 1 || wish.n > settings.most) throw wishless('n', `At most ${String(settings.most)} at a time.`);
  const params: ImageParams = size === '' ? {} : { size: size as `${number}x${number}` };
  return {
    request: wish.id,
    prompt,
    provider,
    model,
    n: wish.n,
    params,
    origin: 'frontend_image_generator',
    userId: user.id,
    sessionId: session.id,
  };
}

function oneOf(wanted: string, offered: readonly string[], name: string): string {
  if (wanted === '') return offered[0] ?? '';
  if (offered.includes(wanted)) return wanted;
  throw wishless(name, `This ${name} is not offered. Reload the page to see what is.`);
}

/** What a visitor may know of a failure. */
function toldOf(error: unknown): string {
  const { code = '', status = 0 } = error instanceof RestError ? error : {};
  if (code === 'rest_svc_provider_rejected' || status === 403)
    return 'The image service refused this description. Describe it in other words.';
  if (status === 429) return 'Too many images are being drawn right now. Try again in a while.';
  if (code === 'rest_svc_request_aborted') return interrupted;
  return 'The image could not be drawn. Try again later.';
}

interface VisitorLimits {
  readonly counters: LimitCounters;
  /** The limit of a visitor in the day that runs; null: there is none. */
  of(visitor: Visitor, settings: VisitorSettings): Promise<CountedLimit | null>;
}

interface VisitorLimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

/** Images a day: guests by session and by address, users by id; one count for all nodes. */
export function createVisitorLimits({ host, signer }: VisitorLimitParts): VisitorLimits {
  const counters = createLimitCounters({ database: host.database, table: imageTables.counters, scopeColumn: 'scope' });
  return {
    counters,
    async of({ user, session, ip }, settings) {
      const set = user.id > 0 ? settings.user_per_day : settings.guest_per_day;
      const amount = await host.hooks.applyFiltersAsync('svc_image_visitor_limit', set, {
        user,
        session: session.id,
        ip,
      });
      if (amount === null) return null;
      const network = clientNetwork(ip);
      const address =
        network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
      // In one order, so that two transactions never wait for each other.
      const subjects = user.id > 0 ? [`u:${String(user.id)}`] : [...address, `s:${session.id}`];
      return {
        ...findPeriod('day', host.clock.now(), await host.site.timezone()),
        scope: 0,
        subjects,
        unit: 'images',
        per: 'day',
        amount,
      };
    },
  };
}
