import { tokenDetails, tokenKinds, type TokenKind } from '../kit/token-details.ts';
import type { ReportedUsage } from '../providers/provider.ts';
import type { UsageCounts } from './ports.ts';

/** What the attempts of a call used together. */
export function countAttempts(model: string, attempts: readonly ReportedUsage[]): UsageCounts {
  const counts = { model, inputTokens: 0, outputTokens: 0 };
  const details: Partial<Record<TokenKind, number>> = {};
  for (const { usage, tokenDetails: own = {} } of attempts) {
    counts.inputTokens += usage?.input_tokens ?? 0;
    counts.outputTokens += usage?.output_tokens ?? 0;
    for (const kind of tokenKinds) if (own[kind]) details[kind] = (details[kind] ?? 0) + own[kind];
  }
  const used = { input_tokens: counts.inputTokens, output_tokens: counts.outputTokens };
  return { ...counts, tokenDetails: tokenDetails(used, details), attempts };
}
