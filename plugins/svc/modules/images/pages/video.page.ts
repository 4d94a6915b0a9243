import { parseId, withNotice, fieldErrorsOf } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, FieldErrors } from '#plugin-api';
import { missingSettings } from '../../../settings/configured.ts';
import { videoSlug } from '../image-names.ts';
import type { Images, Provider } from '../images.ts';
import { readVideo } from '../videos/read-video.ts';
import type { VideoJob, VideoState } from '../videos/video-jobs.ts';
import { imageTiles } from './image-tile.ts';

type Values = Readonly<Record<string, unknown>>;

const template = 'svc/video';

const states: Readonly<Record<VideoState, { readonly text: string; readonly kind: string }>> = {
  queued: { text: 'Waiting', kind: 'info' },
  starting: { text: 'Starting', kind: 'info' },
  running: { text: 'Generating', kind: 'info' },
  done: { text: 'Done', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
};

/** Requests videos, and shows the newest requests with their state. */
export function createPage(parts: Images): AdminPageBody {
  return {
    render: async ({ query }) => ({ template, data: await view(parts, await reusedValues(parts, query)) }),
    actions: { generate: (request) => generate(parts, request) },
  };
}

async function generate(parts: Images, request: AdminRequest): Promise<AdminActionResult> {
  try {
    await parts.videos.add(readVideo(parts, request.form), request.user.id);
    return withNotice('success', 'The video is being generated. It takes some minutes. You can leave this page.', {
      redirect: videoSlug,
    });
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (!(error instanceof Error) || !('status' in error)) throw error;
    const text = errors === null ? error.message : 'Nothing was generated. Correct the marked fields.';
    return withNotice('error', text, {
      data: { message: error.message, errors: errors ?? {} },
      page: { template, data: await view(parts, request.form, errors ?? {}) },
    });
  }
}

async function reusedValues(parts: Images, { again }: Values): Promise<Values> {
  const video = await parts.store.get(parseId(again));
  return video === null ? {} : { prompt: video.prompt, provider: video.providerId, model: video.model, ...video.asked };
}

async function view(parts: Images, values: Values, errors: FieldErrors = {}): Promise<Record<string, unknown>> {
  const choices = await providerChoices(parts);
  const text = (name: string): string => (typeof values[name] === 'string' ? values[name] : '');
  const chosen = choices.find(({ value }) => value === text('provider')) ?? choices[0];
  const jobs = await parts.videoJobs.recent();
  return {
    isReady: choices.some(({ isReady }) => isReady),
    prompt: text('prompt'),
    provider: chosen?.value ?? '',
    providers: choices.map(({ value, label }) => ({ value, label })),
    model: text('model'),
    defaultModel: chosen?.defaultModel ?? '',
    size: text('size'),
    sizes: chosen?.sizes ?? [],
    seconds: text('seconds'),
    lengths: chosen?.lengths ?? [],
    errors,
    jobs: await Promise.all(jobs.map((job) => jobView(parts, job))),
    running: jobs.filter(({ state }) => state !== 'done' && state !== 'failed').length,
  };
}

async function providerChoices({ providers, settings }: Images) {
  const able = providers.all().flatMap((provider) => (provider.videos ? [{ provider, videos: provider.videos }] : []));
  const choices = await Promise.all(
    able.map(async ({ provider, videos }) => {
      const saved = await settings.provider(provider.id);
      const isReady = missingSettings(provider, saved).length === 0;
      const defaultModel = saved.video_model || defaultOf(provider);
      const { sizes, seconds } = videos.takes(defaultModel, saved);
      const ofModel = { value: '', label: 'Default of the model' };
      return {
        value: provider.id,
        label: isReady ? provider.label : `${provider.label} (not configured)`,
        isReady,
        defaultModel,
        sizes: [ofModel, ...sizes.map((size) => ({ value: size, label: size.replace('x', ' × ') }))],
        lengths: [ofModel, ...seconds.map((count) => ({ value: String(count), label: `${String(count)} seconds` }))],
      };
    }),
  );
  return choices.sort((left, right) => Number(right.isReady) - Number(left.isReady));
}

function defaultOf({ settings }: Provider): string {
  const value = settings.properties['video_model']?.default;
  return typeof value === 'string' ? value : '';
}

async function jobView({ host, store }: Images, job: VideoJob): Promise<Record<string, unknown>> {
  const { id, state, request, message, createdAt } = job;
  return {
    id,
    prompt: request.prompt,
    badge: states[state],
    message,
    createdAt,
    tiles: state === 'done' ? await imageTiles(host, await store.ofRequest(id)) : [],
  };
}
