import { asRecord, retryAfter, RestError, restError, type HostApi, type RunningJob } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { hasBannedWord } from '../../../kit/fold-text.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import { createLimitCounters, type LimitCounters, type LimitParts } from '../../../kit/visitors/limit-counters.ts';
import type { ImageGenerator } from '../generation/image-generator.ts';
import type { JobResult } from '../generation/image-job.ts';
import '../hooks.ts';
import { visitorImageJob } from '../image-names.ts';
import { imageCounters } from '../image-tables.ts';
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
  /** Generates the images of a request, as a job. */
  run(args: VisitorImageArgs, job: RunningJob): Promise<void>;
  /** Ends a request whose process ended, and releases what it reserved. */
  interrupt(id: string): Promise<void>;
  /** Forgets old requests and counters. */
  sweep(): Promise<void>;
}

/** What a request does not store itself. */
export type VisitorImageArgs = {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly size: string;
};

export interface VisitorGenerationParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'jobs' | 'log'>;
  readonly requests: VisitorRequests;
  readonly limits: VisitorLimits;
  readonly generator: Pick<ImageGenerator, 'generate'>;
}

const retention = 30 * 24 * 3600_000;
const origin = 'frontend_image_generator' as const;
const interrupted = 'The request was interrupted and does not count. Try again.';
const invalidParam = (name: string, reason: string): RestError =>
  new RestError({ code: 'rest_invalid_param', status: 400, message: reason, data: { params: { [name]: reason } } });

export function createVisitorGeneration(parts: VisitorGenerationParts): VisitorGeneration {
  const { host, requests, limits } = parts;

  /** Ends a request once, and settles its reservation with the number of generated images. */
  async function end(
    id: string,
    { generated, message }: { readonly generated: number; readonly message: string },
  ): Promise<void> {
    await host.database.transaction(async () => {
      const request = await requests.get(id);
      const isFirst = await requests.end(id, { state: generated > 0 ? 'done' : 'failed', message });
      if (isFirst && request?.reserved) await limits.settle(request.reserved, generated);
    });
  }

  async function run({ id, provider, model, size }: VisitorImageArgs, { commit, signal }: RunningJob): Promise<void> {
    const request = await requests.get(id);
    if (request?.state !== 'drawing') return;
    const { prompt, n, userId, sessionId } = request;
    const params: ImageParams = size === '' ? {} : { size: size as `${number}x${number}` };
    const job = { request: id, prompt, provider, model, n, params, origin, userId, sessionId };
    const store = async (work: () => Promise<JobResult>): Promise<JobResult> => {
      const stored: JobResult[] = [];
      await commit(async () => {
        const result = await work();
        stored.push(result);
        const { length: generated } = result.images;
        await end(id, { generated, message: generated < n ? result.message : '' });
      });
      return stored[0] as JobResult;
    };
    try {
      await parts.generator.generate(job, { signal, transaction: store });
    } catch (error) {
      if (signal.aborted) throw error;
      host.log.warn('Image request of a visitor failed', { event: 'visitor_image_failed', image_request: id, error });
      await commit(() => end(id, { generated: 0, message: visitorMessage(error) }));
    }
  }

  async function accept(
    visitor: Visitor,
    { id, prompt, n }: ImageRequest,
    { settings, args }: { readonly settings: VisitorSettings; readonly args: VisitorImageArgs },
  ): Promise<VisitorRequest> {
    const limit = await limits.of({ ...visitor, settings });
    return host.database.transaction(async () => {
      const reserved = limit === null ? null : await limits.reserve(limit, { least: n, most: n });
      if (limit !== null && reserved === null)
        throw limitReached(await limits.left(limit), { settings, wait: limit.endsAt - host.clock.now() });
      const request = { id, userId: visitor.user.id, sessionId: visitor.session.id, prompt, n, reserved };
      if (!(await requests.add(request)))
        throw errors.image_refused({
          values: { reason: 'This request was sent twice at once. Wait for the first to finish.' },
        });
      await host.jobs.add(visitorImageJob, args, { key: id });
      return { ...request, state: 'drawing' as const, message: '', createdAt: host.clock.now() };
    });
  }

  return {
    async begin(visitor, request, settings) {
      const known = await requests.get(request.id);
      if (known?.sessionId === visitor.session.id) return known;
      if (known !== null) throw errors.image_not_found();
      const args = checkRequest(request, settings);
      return accept(visitor, { ...request, prompt: request.prompt.trim() }, { settings, args });
    },
    run,
    interrupt: (id) => end(id, { generated: 0, message: interrupted }),
    async left(visitor, settings) {
      const limit = await limits.of({ ...visitor, settings });
      return limit === null ? null : limits.left(limit);
    },
    async sweep() {
      await limits.sweep();
      await requests.forget(host.clock.now() - retention);
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
    headers: retryAfter(wait),
  });
}

/** Makes all checks that cost nothing. */
function checkRequest(request: ImageRequest, settings: VisitorSettings): VisitorImageArgs {
  if (!settings.enabled || settings.models.length === 0) throw errors.images_not_offered();
  if (settings.consent.required && !request.consent)
    throw restError(403, 'rest_svc_consent_required', 'Accept the terms first: tick the box.');
  const prompt = request.prompt.trim();
  if (prompt === '') throw invalidParam('prompt', 'Describe the image.');
  if ([...prompt].length > 1000) throw invalidParam('prompt', 'Use at most 1,000 characters.');
  if (hasBannedWord(prompt, settings.banned_words))
    throw errors.image_refused({ values: { reason: settings.texts.refused } });
  const { provider, model } = readModel(offeredValue(request.model, settings.models, 'model'));
  const size = settings.sizes.length === 0 ? '' : offeredValue(request.size, settings.sizes, 'size');
  if (request.n < 1 || request.n > settings.most)
    throw invalidParam('n', `Request at most ${String(settings.most)} images at a time.`);
  return { id: request.id, provider, model, size };
}

function offeredValue(value: string, offered: readonly string[], name: string): string {
  if (value === '') return offered[0] ?? '';
  if (offered.includes(value)) return value;
  throw invalidParam(name, `This ${name} is not available. Reload the page to see the current choices.`);
}

/** Messages for visitors name no keys and no providers. */
function visitorMessage(error: unknown): string {
  const { code = '', status = 0 } = error instanceof RestError ? error : {};
  const isMissing = asRecord(asRecord(error)['data'])['reason'] === 'model_not_found';
  if ((code === 'rest_svc_provider_rejected' && !isMissing) || status === 403)
    return 'The image service rejected this description. Describe the image differently.';
  if (status === 429) return 'Too many images are being generated right now. Try again later.';
  return 'The image could not be generated. Try again later.';
}

/** A visitor, with the settings that apply. */
type LimitedVisitor = Visitor & { readonly settings: VisitorSettings };
export type VisitorLimits = LimitCounters<LimitedVisitor>;

/** Images per day, counted over all nodes: guests by session and by address, users by id. */
export function createVisitorLimits(parts: LimitParts): VisitorLimits {
  return createLimitCounters({
    ...parts,
    ...imageCounters,
    async find({ user, session, ip, settings }: LimitedVisitor) {
      const set = user.id > 0 ? settings.user_per_day : settings.guest_per_day;
      const visitor = { user, session: session.id, ip };
      const amount = await parts.host.hooks.applyFiltersAsync('svc_image_visitor_limit', set, visitor);
      return amount === null ? null : { scope: 0, unit: 'images', per: 'day', amount };
    },
  });
}
