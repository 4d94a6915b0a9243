import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { hasCapability } from '../../ai/capable-provider.ts';
import type { ServiceContext } from '../../wiring.ts';
import type { Failover, FailoverUse } from './failover.ts';
import { uses } from './failover-store.ts';
import { invalidFields, type FieldErrors } from '../../kit/field-errors.ts';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { readText } from '../../admin-ui/form-values.ts';
import { readTargets, writeTargets } from './target-lines.ts';

export type FailoverContext = Pick<ServiceContext, 'settings' | 'providers'>;
const template = 'svc/failover';

/** The page "Failover": its switches and, for each use, who is asked in which order. */
export function failoverPage(context: FailoverContext): AdminPageBody {
  return {
    render: async () => ({ template, data: await view(context) }),
    actions: { save: (request) => save(request, context) },
  };
}

interface Refused {
  readonly request: AdminRequest;
  readonly errors: FieldErrors;
}

const titles: Readonly<
  Record<FailoverUse, { readonly label: string; readonly placeholder: string; readonly help: string }>
> = {
  text: {
    label: 'Text',
    placeholder: 'claude claude-sonnet-5-5\ngoogle gemini-3.5-flash',
    help: 'One provider and model a line, asked in this order.',
  },
  images: { label: 'Images', placeholder: 'google imagen-4', help: 'One provider and model a line.' },
  embeddings: {
    label: 'Embeddings',
    placeholder: 'openai text-embedding-3-small 1536\nazure text-embedding-3-small 1536',
    help: 'Provider, model and the dimensions of its vectors. List one and the same model at several providers, the usual one as well: vectors of different models do not compare, though they may be equally long. Only entries with as many dimensions as the model that failed are asked.',
  },
};

async function view({ settings, providers }: FailoverContext, refused?: Refused): Promise<Record<string, unknown>> {
  const failover = await settings.failover.get();
  const typed = refused?.request;
  const known = await knownFor(providers);
  return {
    enabled: typed ? readText(typed, 'enabled') === '1' : failover.enabled,
    rest: typed ? readText(typed, 'rest') === '1' : failover.rest,
    isEmpty: uses.every((use) => failover[use].length === 0),
    fields: uses.map((use) => ({
      id: `failover-${use}`,
      name: use,
      type: 'textarea',
      mono: true,
      rows: 4,
      ...titles[use],
      help: `${titles[use].help} Providers: ${known[use].join(', ')}.`,
      value: typed ? readText(typed, use) : writeTargets(failover[use]),
      error: refused?.errors[use] ?? '',
    })),
  };
}

async function knownFor(providers: FailoverContext['providers']): Promise<Record<FailoverUse, string[]>> {
  const all = await providers.all();
  const of = (use: FailoverUse): string[] => all.filter((provider) => hasCapability(provider, use)).map(({ id }) => id);
  return { text: of('text'), images: of('images'), embeddings: of('embeddings') };
}

async function save(request: AdminRequest, context: FailoverContext): Promise<AdminActionResult> {
  const known = await knownFor(context.providers);
  return withFieldErrors(
    async () => {
      const lists: Record<string, unknown> = {};
      const errors: Record<string, string> = {};
      for (const use of uses) {
        const reading = readTargets(readText(request, use), { use, known: known[use] });
        if ('error' in reading) errors[use] = reading.error;
        else lists[use] = reading.targets;
      }
      if (Object.keys(errors).length > 0) throw invalidFields(errors);
      const { enabled } = await context.settings.failover.save({
        ...(lists as Partial<Failover>),
        enabled: readText(request, 'enabled') === '1',
        rest: readText(request, 'rest') === '1',
      });
      return {
        notice: {
          kind: 'success',
          text: enabled
            ? 'Saved. From the next call on another provider is asked where one fails.'
            : 'Saved. Failover is off.',
        },
      };
    },
    {
      inputName: (name) => name,
      page: async (errors) => ({ template, data: await view(context, { request, errors }) }),
    },
  );
}
