import { invalidFields } from '#plugin-api';
import { capableProvider } from '../../../ai/capable-provider.ts';
import { errors } from '../../../kit/errors.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import type { Images } from '../images.ts';
import type { VideoRequestData } from './video-jobs.ts';

const longestPrompt = 32_000;

/**
 * Reads the request of an administrator.
 *
 * @throws RestError 400 `rest_svc_empty_input` or `rest_invalid_param` with a sentence for each bad field.
 */
export function readVideo(
  { providers }: Pick<Images, 'providers'>,
  fields: Readonly<Record<string, unknown>>,
): VideoRequestData {
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  };
  const prompt = text('prompt');
  if (prompt === '') throw errors.empty_input({ values: { name: 'The prompt' } });
  const invalid: Record<string, string> = {};
  const seconds = text('seconds') === '' ? undefined : Number(text('seconds'));
  if (prompt.length > longestPrompt) invalid['prompt'] = 'Use at most 32,000 characters.';
  if (text('model').length > 200) invalid['model'] = 'Use at most 200 characters.';
  if (text('provider') === '') invalid['provider'] = 'Choose a provider.';
  if (text('size') !== '' && !/^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(text('size')))
    invalid['size'] = 'Enter the width and height in pixels, for example 1280x720.';
  if (seconds !== undefined && (!Number.isInteger(seconds) || seconds < 1 || seconds > 60))
    invalid['seconds'] = 'Enter a number from 1 to 60.';
  if (Object.keys(invalid).length > 0) throw invalidFields(invalid);
  capableProvider(providers, text('provider'), 'videos');
  return {
    prompt,
    provider: text('provider'),
    ...(text('model') !== '' && { model: text('model') }),
    ...(text('size') !== '' && { size: text('size') as ImageParams['size'] & string }),
    ...(seconds !== undefined && { seconds }),
  };
}
