import { imageReport } from '../providers/images/images-response.ts';
import type { FailedUsage, ImageResult, ReportedUsage } from '../providers/provider.ts';
import { countAttempts } from './count-attempts.ts';
import type { CallUse, UsageCounts } from './ports.ts';

/** What is known of a failed attempt at images. */
export interface FailedImages extends FailedUsage {
  /** Images that may have been made. */
  readonly n: number;
}

export interface ImageAttempts {
  readonly results: readonly ImageResult[];
  readonly failed: readonly FailedImages[];
}

interface Counting {
  /** As requested. */
  readonly model: string;
  readonly estimate: (n: number) => Promise<CallUse>;
}

/** What calls for images used, with an estimate of what failed ones did not report. */
export async function countImageCalls(
  { results, failed }: ImageAttempts,
  { model, estimate }: Counting,
): Promise<UsageCounts> {
  // Providers of other plugins may return anything.
  let images = results.reduce((sum, { images: made }) => sum + (Array.isArray(made) ? made.length : 0), 0);
  const used: ReportedUsage[] = results.map(({ usage, tokenDetails }) => {
    const reported = imageReport(usage);
    return { ...reported, tokenDetails: tokenDetails ?? reported.tokenDetails };
  });
  for (const { n, usage, tokenDetails } of failed) {
    if (usage !== null) {
      used.push({ usage, tokenDetails });
      continue;
    }
    const { inputTokens, outputTokens, tokenDetails: details } = await estimate(n);
    images += n;
    const counts = { input_tokens: inputTokens, output_tokens: outputTokens };
    used.push({ usage: { ...counts, total_tokens: inputTokens + outputTokens }, tokenDetails: details });
  }
  const { attempts: _attempts, ...counts } = countAttempts(results[0]?.model ?? model, used);
  return { ...counts, images };
}
