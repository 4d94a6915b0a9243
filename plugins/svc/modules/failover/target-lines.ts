import type { EmbeddingTarget, Failover, FailoverTarget, FailoverUse } from './failover.ts';

/** A list as its field shows it: one entry a line, `openai gpt-5.6-terra`; of embeddings with the dimensions, `azure text-embedding-3-small 1536`. */
export function writeTargets(targets: Failover[FailoverUse]): string {
  return targets
    .map((target) =>
      [target.provider, target.model, ...('dimensions' in target ? [String(target.dimensions)] : [])].join(' '),
    )
    .join('\n');
}

export interface ReadInit {
  readonly use: FailoverUse;
  /** Ids of the providers that can do it. */
  readonly known: readonly string[];
}

/** Reads such a field; one sentence where a line cannot be read. */
export function readTargets(
  text: string,
  { use, known }: ReadInit,
): { readonly targets: readonly FailoverTarget[] } | { readonly error: string } {
  const targets: (FailoverTarget | EmbeddingTarget)[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.trim().split(/\s+/);
    const [provider = '', ...rest] = words;
    if (provider === '') continue;
    const dimensions = use === 'embeddings' ? rest.pop() : undefined;
    const model = rest.join(' ');
    const place = `Line ${String(index + 1)}`;
    if (!known.includes(provider))
      return {
        error: `${place}: there is no provider ${provider} for this. Begin the line with one of ${known.join(', ')}.`,
      };
    if (model === '')
      return {
        error: `${place}: name the model after the provider${use === 'embeddings' ? ', and then the dimensions of its vectors' : ''}.`,
      };
    if (use !== 'embeddings') targets.push({ provider, model });
    else if (/^[1-9]\d{0,5}$/.test(dimensions ?? '')) targets.push({ provider, model, dimensions: Number(dimensions) });
    else return { error: `${place}: end it with the dimensions of the model’s vectors, such as 1536.` };
  }
  return { targets };
}
