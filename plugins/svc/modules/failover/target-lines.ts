import type { Capability } from '../../ai/capable-provider.ts';
import type { EmbeddingTarget, Failover, FailoverTarget } from './failover.ts';

/** A list as text, one entry per line: `openai gpt-5.6-terra`; for embeddings with the dimensions, `azure text-embedding-3-small 1536`. */
export function writeTargets(targets: Failover[Capability]): string {
  return targets
    .map((target) =>
      [target.provider, target.model, ...('dimensions' in target ? [String(target.dimensions)] : [])].join(' '),
    )
    .join('\n');
}

export interface ReadInit {
  readonly use: Capability;
  /** Ids of the providers with the capability. */
  readonly known: readonly string[];
}

/** Reads such a text, or returns a sentence for the first invalid line. */
export function readTargets(
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
