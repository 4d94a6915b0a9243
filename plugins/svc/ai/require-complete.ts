import { errors } from '../kit/errors.ts';
import type { GeneratedText } from './generate-text.ts';

/**
 * For texts that are used without a reader in between: half of one is not published or stored as a whole.
 *
 * @throws RestError 502 `rest_svc_output_cut` or `rest_svc_output_filtered`
 */
export function requireComplete({
  finish,
  provider,
  model,
}: Pick<GeneratedText, 'finish' | 'provider' | 'model'>): void {
  if (finish === 'length') throw errors.output_cut({ values: { provider, model } });
  if (finish === 'content_filter') throw errors.output_filtered({ values: { provider, model } });
}
