import { type AdminActionResult, type AdminPageBody, type AdminRequest, withNotice } from '#plugin-api';
import { hasCapability, type Capability } from '../../ai/capable-provider.ts';
import type { EmbeddingTarget, Failover, FailoverTarget } from './failover.ts';
import { uses } from './failover-store.ts';
import { invalidFields, type FieldErrors } from '../../kit/field-errors.ts';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { readText } from '../../admin-ui/form-values.ts';
import type { FailoverPorts } from './module.ts';

const template = 'svc/failover';

/** The page "Failover": its switches and a list of fallback providers for each use. */
export function failoverPage(ports: FailoverPorts): AdminPageBody {
  return {
    render: async () => ({ template, data: await view(ports) }),
    actions: { save: (request) => save(request, ports) },
  };
}

interface Refused {
  readonly request: AdminRequest;
  readonly errors: FieldErrors;
}

const titles: Readonly<
  Record<Capability, { readonly label: string; readonly placeholder: string; readonly help: string }>
> = {
  text: {
    label: 'Text',
    placeholder: 'claude claude-sonnet-5-5\ngoogle gemini-3.5-flash',
    help: 'One provider and model per line, tried in this order.',
  },
  images: { label: 'Images', placeholder: 'google imagen-4', help: 'One provider and model per line.' },
  embeddings: {
    label: 'Embeddings',
    placeholder: 'openai text-embedding-3-small 1536\nazure text-embedding-3-small 1536',
    help:
      'Provider, model and the dimensions of its vectors, one per line. List the same model at several ' +
      'providers, including your main one: vectors of different models do not compare. Only entries with ' +
      'the dimensions of the failed model are tried.',
  },
};

async function view({ failover, providers }: FailoverPorts, refused?: Refused): Promise<Record<string, unknown>> {
  const stored = await failover.get();
  const typed = refused?.request;
  const known = providersByUse(providers);
  return {
    enabled: typed ? readText(typed, 'enabled') === '1' : stored.enabled,
    rest: typed ? readText(typed, 'rest') === '1' : stored.rest,
    isEmpty: uses.every((use) => stored[use].length === 0),
    fields: uses.map((use) => ({
      id: `failover-${use}`,
      name: use,
      type: 'textarea',
      mono: true,
      rows: 4,
      ...titles[use],
      help: `${titles[use].help} Providers: ${known[use].join(', ')}.`,
      value: typed ? readText(typed, use) : writeTargets(stored[use]),
      error: refused?.errors[use] ?? '',
    })),
  };
}

function providersByUse(providers: FailoverPorts['providers']): Record<Capability, string[]> {
  const all = providers.all();
  const able = (use: Capability): string[] =>
    all.filter((provider) => hasCapability(provider, use)).map(({ id }) => id);
  return { text: able('text'), images: able('images'), embeddings: able('embeddings') };
}

async function save(request: AdminRequest, ports: FailoverPorts): Promise<AdminActionResult> {
  const known = providersByUse(ports.providers);
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
      const { enabled } = await ports.failover.save({
        ...(lists as Partial<Failover>),
        enabled: readText(request, 'enabled') === '1',
        rest: readText(request, 'rest') === '1',
      });
      return withNotice(
        'success',
        enabled ? 'Saved. If a provider fails, the next one is tried.' : 'Saved. Failover is off.',
      );
    },
    {
      inputName: (name) => name,
      page: async (errors) => ({ template, data: await view(ports, { request, errors }) }),
    },
  );
}

/** A list as text, one entry per line: `openai gpt-5.6-terra`; for embeddings with the dimensions, `azure text-embedding-3-small 1536`. */
function writeTargets(targets: Failover[Capability]): string {
  return targets
    .map((target) =>
      [target.provider, target.model, ...('dimensions' in target ? [String(target.dimensions)] : [])].join(' '),
    )
    .join('\n');
}

interface ReadInit {
  readonly use: Capability;
  /** Ids of the providers with the capability. */
  readonly known: readonly string[];
}

/** Reads such a text, or returns a sentence for the first invalid line. */
function readTargets(
  text: string,
  { use, known }: ReadInit,
): { readonly targets: readonly FailoverTarget[] } | { readonly error: string } {
  const targets: (FailoverTarget | EmbeddingTarget)[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [provider = '', ...rest] = line.trim().split(/\s+/);
    if (provider === '') continue;
    const dimensions = use === 'embeddings' ? rest.pop() : undefined;
    const model = rest.join(' ');
    const position = `Line ${String(index + 1)}`;
    if (!known.includes(provider))
      return {
        error: `${position}: ${provider} is not a provider for this. Start the line with one of ${known.join(', ')}.`,
      };
    if (model === '')
      return {
        error: `${position}: add the model after the provider${use === 'embeddings' ? ', then the dimensions of its vectors' : ''}.`,
      };
    if (use !== 'embeddings') targets.push({ provider, model });
    else if (/^[1-9]\d{0,5}$/.test(dimensions ?? '')) targets.push({ provider, model, dimensions: Number(dimensions) });
    else return { error: `${position}: add the dimensions of the model’s vectors at the end, such as 1536.` };
  }
  return { targets };
}
