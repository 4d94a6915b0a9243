import { isRecord, isUrl } from '#plugin-api';
import { cleanMessage } from '../../kit/clean-message.ts';
import { countAt, listAt, objectAt, textAt } from '../json.ts';
import { unreadableResponse } from '../provider-errors.ts';
import {
  ProviderError,
  type ProviderConnection,
  type VideoCapability,
  type VideoOperation,
  type VideoProgress,
  type VideoRequest,
} from '../provider.ts';
import { withTimeLimit } from '../time-limit.ts';
import { callGoogle, googleBaseUrl, predictGoogle } from './google-client.ts';
import { isVeo2 } from './google-models.ts';

/** Length that Veo makes unless the request sets another. */
const defaultSeconds = 8;

/** Google's Veo (contract 6.5, `outputs.videos`): a job is started with `predictLongRunning`, and its operation is checked. */
export const start: VideoCapability['start'] = (request, connection) =>
  withTimeLimit(connection, (signal) => startVideo(request, connection, signal));

export const check: VideoCapability['check'] = (operation, connection) =>
  withTimeLimit(connection, (signal) => checkVideo(operation.name, connection, signal));

async function startVideo(
  request: VideoRequest,
  connection: ProviderConnection,
  signal: AbortSignal,
): Promise<VideoOperation> {
  const { model, prompt, seconds } = request;
  const { parameters, ignored } = googleVideoParameters(request);
  const body = { instances: [{ prompt }], parameters };
  const operation = await predictGoogle({ model, method: 'predictLongRunning', body, signal }, connection);
  const name = operationName(textAt(operation, 'name'));
  return { name, model, seconds: seconds ?? defaultSeconds, ignored };
}

/** Aspect ratio and resolution of the nearest size. */
function googleVideoParameters({ model, size, seconds }: VideoRequest): {
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly ignored: readonly string[];
} {
  const [width = 0, height = 0] = (size ?? '').split('x').map(Number);
  const isLarge = Math.min(width, height) > 900;
  // Veo 2 has one resolution.
  const resolution = isVeo2(model) ? {} : { resolution: isLarge ? '1080p' : '720p' };
  return {
    parameters: {
      sampleCount: 1,
      ...(seconds !== undefined && { durationSeconds: seconds }),
      ...(size !== undefined && { aspectRatio: height > width ? '9:16' : '16:9', ...resolution }),
    },
    ignored: isLarge && isVeo2(model) ? ['size'] : [],
  };
}

/** @throws ProviderError for a name that would lead elsewhere. */
function operationName(name: string | null): string {
  if (name !== null && name.length <= 500 && /^(?:models\/[\w.-]+\/)?operations\/[\w-]+$/.test(name)) return name;
  throw unreadableResponse('it named no operation');
}

async function checkVideo(name: string, connection: ProviderConnection, signal: AbortSignal): Promise<VideoProgress> {
  const { GenerateVideosOperation } = await import('@google/genai');
  const operation = Object.assign(new GenerateVideosOperation(), { name: operationName(name) });
  const { result } = await callGoogle(connection, signal, (client, config) =>
    client.operations.getVideosOperation({ operation, config }),
  );
  if (result.done !== true) return { state: 'running' };
  if (isRecord(result.error)) throw failed(textAt(result.error, 'message') ?? 'it gave no reason', connection);
  const { response } = result;
  const urls = listAt(response, 'generatedVideos').flatMap((made) => textAt(objectAt(made, 'video'), 'uri') ?? []);
  const base = googleBaseUrl(connection.settings);
  const key = { 'x-goog-api-key': connection.settings.api_key ?? '' };
  if (urls.length > 0)
    return {
      state: 'done',
      usage: null,
      // The key is for Google's own address only.
      videos: urls.map((url) => (isBelow(url, base) ? { url, headers: key } : { url })),
    };
  if ((countAt(response, 'raiMediaFilteredCount') ?? 0) > 0)
    throw failed(String(listAt(response, 'raiMediaFilteredReasons')[0] ?? 'the video was withheld.'), connection);
  throw unreadableResponse('no video in it');
}

function isBelow(url: string, base: string): boolean {
  return isUrl(url) && new URL(url).origin === new URL(base).origin;
}

function failed(message: string, { settings }: ProviderConnection): ProviderError {
  return new ProviderError({ kind: 'rejected', status: 200, message: cleanMessage(message, settings) });
}
