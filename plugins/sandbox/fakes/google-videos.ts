import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asRecord, isRecord } from '#plugin-api';
import { digest } from '../random.ts';
import { jsonResponse, Refusal } from '../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../fake.ts';
import { googleError, unknownModel, invalidArgument } from './google-request.ts';

/** Milliseconds that a video takes. */
const duration = 1_000;
const sample = join(import.meta.dirname, '..', 'videos', 'sample.mp4');

const notFound = (): Refusal =>
  new Refusal(googleError({ code: 404, status: 'NOT_FOUND', message: 'Requested entity was not found.' }));

/** Veo: starts an operation, whose name holds all it is made of, so that nothing is stored. */
function predictLongRunning({ params, body, seed, now }: FakeRequest): FakeResponse {
  const { model = '', version = 'v1beta' } = params;
  if (model.startsWith('missing-')) throw new Refusal(unknownModel(model, version, 'predictLongRunning'));
  const { instances, parameters } = asRecord(body);
  const [instance] = Array.isArray(instances) ? (instances as unknown[]) : [];
  const prompt = isRecord(instance) ? instance['prompt'] : undefined;
  if (typeof prompt !== 'string' || prompt === '') throw invalidArgument('Text prompt is required.');
  const { aspectRatio = '16:9', resolution = '720p', durationSeconds = 8 } = asRecord(parameters);
  if (!['16:9', '9:16'].includes(String(aspectRatio)))
    throw invalidArgument(`Unsupported aspect ratio ${String(aspectRatio)}.`);
  if (!['720p', '1080p', '4k'].includes(String(resolution)))
    throw invalidArgument(`Unsupported resolution ${String(resolution)}.`);
  if (typeof durationSeconds !== 'number' || durationSeconds < 4 || durationSeconds > 8)
    throw invalidArgument('durationSeconds is out of bound. Please provide a value between 4 and 8, inclusive.');
  const state = /\b(?:blocked|withheld)\b/i.test(prompt) ? 'w' : 'v';
  const id = `${state}${now.toString(36)}-${digest('video', seed, model, prompt).slice(0, 16)}`;
  return jsonResponse(200, { name: `models/${model}/operations/${id}` });
}

/** Running for a second, then done: with a video, or without one for a prompt that says "withheld". */
function operation({ params, now, origin }: FakeRequest): FakeResponse {
  const { model = '', id = '' } = params;
  const name = `models/${model}/operations/${id}`;
  const [, state, started = '', fingerprint = ''] = /^([vw])([\da-z]{6,10})-([\da-f]{16})$/.exec(id) ?? [];
  if (state === undefined) throw notFound();
  if (now - parseInt(started, 36) < duration) return jsonResponse(200, { name });
  const generateVideoResponse =
    state === 'v'
      ? { generatedSamples: [{ video: { uri: `${origin}/google/v1beta/files/${fingerprint}:download?alt=media` } }] }
      : { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['The sandbox withheld this video, as the prompt says.'] };
  return jsonResponse(200, {
    name,
    done: true,
    response: {
      '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
      generateVideoResponse,
    },
  });
}

/** The same second of video for every prompt. */
async function download(): Promise<FakeResponse> {
  return { status: 200, headers: { 'content-type': 'video/mp4' }, chunks: [await readFile(sample)] };
}

export const googleVideoModels = ['veo-3.1-generate-preview', 'veo-3.1-fast-generate-preview'];

export const googleVideoRoutes: readonly FakeRoute[] = [
  {
    method: 'POST',
    path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+):predictLongRunning$/,
    handle: predictLongRunning,
  },
  {
    method: 'GET',
    path: /^\/(?:v1|v1beta)\/models\/(?<model>[^/:]+)\/operations\/(?<id>[^/]+)$/,
    handle: operation,
  },
  { method: 'GET', path: /^\/(?:v1|v1beta)\/files\/[\da-f]{16}:download$/, handle: download },
];
