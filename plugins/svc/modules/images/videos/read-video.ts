import type { JsonSchema } from '#plugin-api';
import { capableProvider } from '../../../ai/capable-provider.ts';
import { imageParamSchemas, promptSchemas } from '../../../kit/image-params.ts';
import { readFields } from '../../../settings/field-value.ts';
import { requirePrompt, type JobFields } from '../generation/read-job.ts';
import type { Images } from '../images.ts';
import type { VideoRequestData } from './video-jobs.ts';

const videoSchemas = {
  ...promptSchemas,
  size: { ...imageParamSchemas.size, rule: 'must be a width and a height in pixels, such as 1280x720' },
  seconds: { type: 'integer', title: 'Length in seconds', minimum: 1, maximum: 60 },
} as const satisfies Record<string, JsonSchema>;

/**
 * Reads the request of an administrator.
 *
 * @throws RestError 400 `rest_svc_empty_input` or `rest_invalid_param` with a sentence for each bad field.
 */
export function readVideo({ providers }: Pick<Images, 'providers'>, fields: JobFields): VideoRequestData {
  requirePrompt(fields);
  const request = readFields(videoSchemas, fields);
  capableProvider(providers, request.provider, 'videos');
  return { ...request, prompt: request.prompt.trim() } as VideoRequestData;
}
