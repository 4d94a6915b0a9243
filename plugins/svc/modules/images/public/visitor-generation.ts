import { RestError, type HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { hasBannedWord } from '../../../kit/fold-text.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import { clientNetwork } from '../../../kit/visitors/address.ts';
import { createLimitCounters, type CountedLimit, type LimitCounters } from '../../../kit/visitors/limit-counters.ts';
import { findPeriod } from '../../../kit/visitors/period.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { ImageGenerator } from '../generation/image-generator.ts';
import type { ImageJob } from '../generation/image-job.ts';
import '../hooks.ts';
import { imageTables } from '../image-tables.ts';
import type { VisitorRequest, VisitorRequests } from './visitor-requests.ts';
import { readModel, type VisitorSettings } from './visitor-settings.ts';
import type { Visitor } from './visitor.ts';

/** A request of a visitor, unchecked. */
export interface ImageRequest {
  /** UUID. */
  readonly id: string;
  readonly prompt: string;
  /** `provider:model`, or empty for the default model. */
  readonly model: string;
  /** For example `1024x1024`, or empty for the default size. */
  readonly size: string;
  readonly n: number;
  readonly consent: boolean;
}

export interface VisitorGeneration {
  /**
   * Accepts a request and starts to generate, without waiting. For a known id it returns the stored request.
   *
   * @throws RestError 403 `rest_svc_images_not_offered`, `rest_svc_image_refused`, `rest_svc_consent_required`, 429
   * `rest_svc_image_limit_reached`, 400.
   */
  begin(visitor: Visitor, request: ImageRequest, settings: VisitorSettings): Promise<VisitorRequest>;
  /** Number of images the visitor may still generate today. Null: no limit. */
  left(visitor: Visitor, settings: VisitorSettings): Promise<number | null>;
  /** Fails requests whose node died and releases what they reserved, then forgets old rows. */
  sweep(): Promise<void>;
  /** Aborts running requests and waits until they are stored. */
  stop(): Promise<void>;
}

export interface VisitorGenerationParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
  readonly requests: VisitorRequests;
  readonly limits: VisitorLimits;
  readonly generator: Pick<ImageGenerator, 'generate'>;
  /** Time limit of image calls, in milliseconds. */
  readonly timeout: () => Promise<number>;
}

/** Added to the time limit of image calls for the work before and after them, in milliseconds. */
const grace = 60_000;
const retention = 30 * 24 * 3600_000;
const interrupted = 'The request was interrupted and does not count. Try again.';
const invalidParam = (name: string, reason: string): RestError =>
  new RestError({ code: 'rest_invalid_param', status: 400, message: reason, data: { params: { [name]: reason } } });

export function createVisitorGeneration(parts: VisitorGenerationParts): VisitorGeneration {
  const { host, requests, limits } = parts;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** Ends a request once, and settles its reservation with the number of generated images. */
  async function end(
    request: VisitorRequest,
    { generated, message }: { readonly generated: number; readonly message: string },
  ): Promise<void> {
    await host.database.transaction(async () => {
      const isFirst = await requests.end(request.id, { state: generated > 0 ? 'done' : 'failed', message });
      if (isFirst && request.reserved !== null) await limits.counters.settle(request.reserved, generated);
    });
  }

  async function run(request: VisitorRequest, job: ImageJob): Promise<void> {
    try {
      const { images, message } = await parts.generator.generate(job, { signal: stopping.signal });
      await end(request, { generated: images.length, message: images.length < request.n ? message : '' });
    } catch (error) {
      host.log.warn('Image request of a visitor failed', {
        event: 'visitor_image_failed',
        image_request: request.id,
        error,
      });
      await end(request, { generated: 0, message: visitorMessage(error) });
    }
  }

  async function accept(
    visitor: Visitor,
    { id, prompt, n }: ImageRequest,
    settings: VisitorSettings,
  ): Promise<VisitorRequest> {
    const limit = await limits.of(visitor, settings);
    const leaseUntil = host.clock.now() + (await parts.timeout()) + grace;
    return host.database.transaction(async () => {
      const reserved = limit === null ? null : await limits.counters.reserve(limit, { least: n, most: n });
      if (limit !== null && reserved === null)
        throw limitReached(await limits.counters.left(limit), { settings, wait: limit.endsAt - host.clock.now() });
      const request = { id, userId: visitor.user.id, sessionId: visitor.session.id, prompt, n, reserved, leaseUntil };
      if (!(await requests.add(request)))
        throw errors.image_refused({
          values: { reason: 'This request was sent twice at once. Wait for the first to finish.' },
        });
      return { ...request, state: 'drawing' as const, message: '', createdAt: host.clock.now() };
    });
  }

  return {
    async begin(visitor, request, settings) {
      const known = await requests.get(request.id);
      if (known?.sessionId === visitor.session.id) return known;
      if (known !== null) throw errors.image_not_found();
      const job = jobOf(visitor, request, settings);
      const accepted = await accept(visitor, request, settings);
      const work = run(accepted, job)
        .catch((error: unknown) => {
          host.log.error('Failed to finish an image request; it will be released when its lease expires', {
            event: 'visitor_image_not_finished',
            image_request: accepted.id,
            error,
          });
        })
        .finally(() => running.delete(work));
      running.add(work);
      return accepted;
    },
    async left(visitor, settings) {
      const limit = await limits.of(visitor, settings);
      return limit === null ? null : limits.counters.left(limit);
    },
    async sweep() {
      for (const request of await requests.abandoned(500)) await end(request, { generated: 0, message: interrupted });
      await limits.counters.sweep(host.clock.now() - retention);
      await requests.forget(host.clock.now() - retention);
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** @param wait milliseconds until the end of the day. */
function limitReached(
  left: number,
  { settings, wait }: { readonly settings: VisitorSettings; readonly wait: number },
): RestError {
  const reason =
    left > 0
      ? `You can generate ${String(left)} more ${left === 1 ? 'image' : 'images'} today. Request fewer images.`
      : settings.texts.limit;
  return errors.image_limit_reached({
    values: { reason },
    data: { left },
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) },
  });
}

/** Makes all checks that cost nothing, and returns the job. */
function jobOf({ user, session }: Visitor, request: ImageRequest, settings: VisitorSettings): ImageJob {
  if (!settings.enabled || settings.models.length === 0) throw errors.images_not_offered();
  if (settings.consent.required && !request.consent)
    throw new RestError({
      code: 'rest_svc_consent_required',
      status: 403,
      message: 'Accept the terms first: tick the box.',
    });
  const prompt = request.prompt.trim();
  if (prompt === '') throw invalidParam('prompt', 'Describe the image.');
  if ([...prompt].length > 1000) throw invalidParam('prompt', 'Use at most 1,000 characters.');
  if (hasBannedWord(prompt, settings.banned_words))
    throw errors.image_refused({ values: { reason: settings.texts.refused } });
  const { provider, model } = readModel(offeredValue(request.model, settings.models, 'model'));
  const size = settings.sizes.length === 0 ? '' : offeredValue(request.size, settings.sizes, 'size');
  if (request.n < 1 || request.n > settings.most)
    throw invalidParam('n', `Request at most ${String(settings.most)} images at a time.`);
  const params: ImageParams = size === '' ? {} : { size: size as `${number}x${number}` };
  return {
    request: request.id,
    prompt,
    provider,
    model,
    n: request.n,
    params,
    origin: 'frontend_image_generator',
    userId: user.id,
    sessionId: session.id,
  };
}

function offeredValue(value: string, offered: readonly string[], name: string): string {
  if (value === '') return offered[0] ?? '';
  if (offered.includes(value)) return value;
  throw invalidParam(name, `This ${name} is not available. Reload the page to see the current choices.`);
}

/** Messages for visitors name no keys and no providers. */
function visitorMessage(error: unknown): string {
  const { code = '', status = 0 } = error instanceof RestError ? error : {};
  if (code === 'rest_svc_provider_rejected' || status === 403)
    return 'The image service rejected this description. Describe the image differently.';
  if (status === 429) return 'Too many images are being generated right now. Try again later.';
  if (code === 'rest_svc_request_aborted') return interrupted;
  return 'The image could not be generated. Try again later.';
}

export interface VisitorLimits {
  readonly counters: LimitCounters;
  /** The limit of a visitor for the current day. Null: none. */
  of(visitor: Visitor, settings: VisitorSettings): Promise<CountedLimit | null>;
}

export interface VisitorLimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

/** Images per day, counted over all nodes: guests by session and by address, users by id. */
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
      // Always in the same order, so that transactions cannot deadlock.
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
