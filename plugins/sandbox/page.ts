import { RestError } from '#plugin-api';
import type { AdminActionResult, AdminPage, AdminRequest, OptionsApi } from '#plugin-api';
import { defaultDial, dialSchema, faults, readDial } from './dial.ts';
import type { Fault } from './dial.ts';
import type { SandboxOverview } from './sandbox.ts';

interface SandboxPageParts {
  readonly options: OptionsApi;
  readonly dialOption: string;
  /** Whether the service's switch is on. */
  readonly isOn: () => Promise<boolean>;
  readonly overview: () => Promise<SandboxOverview>;
}

const faultLabels: Readonly<Record<Fault, string>> = {
  none: 'None: every request is answered',
  '429': '429: rate limited, with Retry-After',
  '500': '500: the provider failed',
  slow: 'Slow: answers after the delay; a stream stands still in the middle',
  cut: 'Cut: the connection breaks in mid-answer',
  error: 'Error: a stream ends in the middle with an error, a whole answer is a 500',
  garbage: 'Garbage: an answer that is not JSON',
};

/** The admin page: what is served, the fault dial, and the last requests this process saw. */
export function createSandboxPage({ options, dialOption, isOn, overview }: SandboxPageParts): AdminPage {
  return {
    slug: 'sandbox',
    title: 'Sandbox',
    menu: 'Sandbox',
    icon: 'flask',
    position: 80,
    render: async () => {
      const { requests, ...served } = await overview();
      return {
        template: 'sandbox/index',
        data: {
          ...served,
          on: await isOn(),
          dial: readDial(await options.get(dialOption)),
          schema: dialSchema.properties,
          faultOptions: faults.map((value) => ({ value, label: faultLabels[value] })),
          requests: requests.map((request) => ({ ...request, fault: request.fault === 'none' ? '' : request.fault })),
        },
      };
    },
    actions: {
      save: (request) => saveDial(options, dialOption, request),
      reset: async () => {
        await options.update(dialOption, defaultDial);
        return { notice: { kind: 'success', text: 'The dial is back at none: every request is answered.' } };
      },
    },
  };
}

/** Throws RestError 400 when a member is out of its range. */
async function saveDial(options: OptionsApi, option: string, { form }: AdminRequest): Promise<AdminActionResult> {
  const dial = {
    fault: String(form['fault'] ?? ''),
    rate: formNumber(form, 'rate'),
    delay_ms: formNumber(form, 'delay_ms'),
    seed: formNumber(form, 'seed'),
    pace_ms: form['pace_ms'] === undefined ? defaultDial.pace_ms : formNumber(form, 'pace_ms'),
  };
  await options.update(option, dial);
  const text =
    dial.fault === 'none'
      ? 'Saved. Every request is answered.'
      : `Saved. The fault strikes ${String(Math.round(dial.rate * 100))}% of the requests from now on.`;
  return { notice: { kind: 'success', text } };
}

function formNumber(form: AdminRequest['form'], name: 'rate' | 'delay_ms' | 'seed' | 'pace_ms'): number {
  const text = String(form[name] ?? '').trim();
  const value = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  const { title } = dialSchema.properties[name];
  throw new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `${title}: type a number.`,
    data: { params: { [name]: 'Type a number.' } },
  });
}
