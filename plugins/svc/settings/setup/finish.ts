import { curlCommand } from '../curl-command.ts';
import type { SettingsContext } from '../settings-context.ts';

export interface FinishInit {
  readonly provider: string;
  readonly model: string;
  readonly sandbox: boolean;
}

/** Makes the REST key and the data of `svc/setup-finish`, which shows it the only time (D3). */
export async function finishSetup(
  context: SettingsContext,
  { provider, model, sandbox }: FinishInit,
): Promise<Record<string, unknown>> {
  const key = await context.settings.restKey.generate();
  const url = context.host.rest.url('/svc/v1/generate');
  return { key, url, sandbox, curl: curlCommand({ url, key, provider, model }) };
}
