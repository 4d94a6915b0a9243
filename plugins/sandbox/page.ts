import { RestError, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPage, AdminRequest, OptionsApi } from '#plugin-api';
import { defaultFaultSettings, faultSettingsSchema, faults, readFaultSettings } from './fault-injection.ts';
import type { CapturedMails } from './captured-mail.ts';
import type { Fault } from './fault-injection.ts';
import type { SandboxOverview } from './sandbox.ts';

interface SandboxPageParts {
  readonly options: OptionsApi;
  readonly faultsOption: string;
  /** Whether the service's switch is on. */
  readonly isOn: () => Promise<boolean>;
  readonly mails: Pick<CapturedMails, 'list' | 'clear'>;
  readonly overview: () => Promise<SandboxOverview>;
}

const faultLabels: Readonly<Record<Fault, string>> = {
  none: 'None: every request succeeds',
  '429': '429: rate limited, with Retry-After',
  '500': '500: the provider failed',
  slow: 'Slow: responds after the delay; a stream stalls in the middle',
  cut: 'Cut: the connection breaks in the middle of the response',
  error: 'Error: a stream ends in the middle with an error, any other response is a 500',
  garbage: 'Garbage: a response that is not JSON',
};

/** The admin page: what is served, fault injection, and the last requests this process saw. */
export function createSandboxPage({ options, faultsOption, isOn, mails, overview }: SandboxPageParts): AdminPage {
  return {
    slug: 'sandbox',
    title: 'Sandbox',
    menu: 'Sandbox',
    group: 'developers',
    icon: 'flask',
    position: 80,
    render: async () => {
      const { requests, ...served } = await overview();
      return {
        template: 'sandbox/index',
        data: {
          ...served,
          on: await isOn(),
          mails: await mails.list(),
          faults: readFaultSettings(await options.get(faultsOption)),
          schema: faultSettingsSchema.properties,
          faultOptions: faults.map((value) => ({ value, label: faultLabels[value] })),
          requests: requests.map((request) => ({
            ...request,
            iso: new Date(request.at).toISOString(),
            fault: request.fault === 'none' ? '' : request.fault,
          })),
        },
      };
    },
    actions: {
      save: (request) => saveDial(options, faultsOption, request),
      'clear-mail': async () => {
        await mails.clear();
        return withNotice('success', 'Captured mail deleted.');
      },
      reset: async () => {
        await options.update(faultsOption, defaultFaultSettings);
        return withNotice('success', 'Faults are off. Every request succeeds.');
      },
    },
  };
}

/** Throws RestError 400 when a member is out of its range. */
async function saveDial(options: OptionsApi, option: string, { form }: AdminRequest): Promise<AdminActionResult> {
  const faults = {
    fault: String(form['fault'] ?? ''),
    rate: formNumber(form, 'rate'),
    delay_ms: formNumber(form, 'delay_ms'),
    seed: formNumber(form, 'seed'),
    pace_ms: form['pace_ms'] === undefined ? defaultFaultSettings.pace_ms : formNumber(form, 'pace_ms'),
  };
  await options.update(option, faults);
  const text =
    faults.fault === 'none'
      ? 'Saved. Every request is answered.'
      : `Saved. The fault affects ${String(Math.round(faults.rate * 100))}% of the requests.`;
  return withNotice('success', text);
}

function formNumber(form: AdminRequest['form'], name: 'rate' | 'delay_ms' | 'seed' | 'pace_ms'): number {
  const text = String(form[name] ?? '').trim();
  const value = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  const { title } = faultSettingsSchema.properties[name];
  throw new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `${title}: type a number.`,
    data: { params: { [name]: 'Type a number.' } },
  });
}
