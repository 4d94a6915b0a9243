import { isRecord } from '#plugin-api';
import { listAt, objectAt, textAt } from './json.ts';

/** How one vendor says that its account has no credits or no quota left. Any member that is found decides. */
interface QuotaForm {
  readonly vendor: string;
  readonly statuses: readonly number[];
  /** In `code`, `type`, `status` or a detail's `reason` of the error. */
  readonly codes?: readonly string[];
  readonly sentence?: RegExp;
}

/** A limit of the rate, which is over in seconds or minutes, is none of these. */
const forms: readonly QuotaForm[] = [
  { vendor: 'OpenRouter, DeepSeek, Hugging Face, Together', statuses: [402] },
  {
    vendor: 'OpenAI, Azure',
    statuses: [400, 403, 429],
    codes: [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_limit_user_error',
      'billing_not_active',
      'QuotaExceeded',
    ],
    sentence: /out of call volume quota|billing hard limit/i,
  },
  {
    vendor: 'Claude',
    statuses: [400, 403, 429],
    codes: ['billing_error'],
    sentence: /credit balance is too low|reached your specified (?:workspace )?api usage limits?/i,
  },
  {
    vendor: 'Google',
    statuses: [403, 429],
    codes: ['BILLING_DISABLED'],
    sentence: /(?:prepay\w*|prepaid) credits? (?:are|is) depleted|spend(?:ing)? cap|requires billing to be enabled/i,
  },
  {
    // A limit of the key.
    vendor: 'OpenRouter',
    statuses: [403],
    sentence: /key limit exceeded/i,
  },
  {
    vendor: 'xAI',
    statuses: [403, 429],
    sentence: /doesn't have any credits|used all available credits|monthly spending limit/i,
  },
  {
    vendor: 'Mistral',
    statuses: [401, 403, 429],
    sentence: /inactive subscription or usage limit|monthly (?:usage )?quota/i,
  },
  { vendor: 'Ollama', statuses: [403, 429], sentence: /(?:weekly|monthly|daily) usage limit/i },
  { vendor: 'Hugging Face', statuses: [403, 429], sentence: /(?:exceeded|depleted) your monthly included credits/i },
  { vendor: 'Moonshot', statuses: [403, 429], codes: ['exceeded_current_quota_error'] },
  { vendor: 'Alibaba', statuses: [400, 403, 429], codes: ['Arrearage'] },
];

/**
 * Whether an error response says that the account of the site has no credits or quota left: a retry fails until an
 * administrator pays, and nothing is wrong with the request.
 *
 * @param sentence its message
 */
export function isQuotaUsedUp(status: number, body: unknown, sentence: string | null): boolean {
  const error = objectAt(Array.isArray(body) ? body[0] : body, 'error');
  const details = listAt(error, 'details');
  const holders: readonly unknown[] = [error, body, ...details];
  const codes = holders.flatMap((holder) => ['code', 'type', 'status', 'reason'].map((name) => textAt(holder, name)));
  const said = (sentence ?? '').slice(0, 1000);
  return (
    (status === 429 && details.some(isDailyQuota)) ||
    forms.some(
      ({ statuses, codes: known = [], sentence: words }) =>
        statuses.includes(status) &&
        ((known.length === 0 && words === undefined) ||
          codes.some((code) => code !== null && known.includes(code)) ||
          words?.test(said) === true),
    )
  );
}

/**
 * Google's `QuotaFailure`: it has the same status and sentence for limits per minute, which pass, and for those per day and
 * models that an account does not have, whose quota is 0.
 */
function isDailyQuota(detail: unknown): boolean {
  return listAt(detail, 'violations').some((violation) => {
    const value = isRecord(violation) ? violation['quotaValue'] : undefined;
    return /per(?:day|month)/i.test(textAt(violation, 'quotaId') ?? '') || String(value) === '0';
  });
}
