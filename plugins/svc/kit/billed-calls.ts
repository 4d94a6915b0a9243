interface Call {
  readonly outcome: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly cost: number | null;
}

/** A call that its caller aborted was paid for all the same. */
const billedOutcomes: readonly string[] = ['ok', 'rest_svc_request_aborted'];

/** Whether a call counts for budgets of calls: of failed ones those that used something, such as refused texts (D51). */
export function isBilled({ outcome, input_tokens, output_tokens, images, cost }: Call): boolean {
  return billedOutcomes.includes(outcome) || input_tokens + output_tokens + images + (cost ?? 0) > 0;
}
