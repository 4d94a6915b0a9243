import { RestError } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { AnswerEnd } from './answer-stream.ts';
import type { Visitor } from './visitor.ts';

export type VisitorError = Extract<AnswerEnd, { type: 'error' }>;

const unavailable = 'The assistant cannot answer just now. Please try again in a moment.';

/** What rules see as `error_code`. */
export function errorCodeOf(error: unknown): string {
  return error instanceof RestError ? error.code : 'rest_internal_error';
}

/**
 * A failure as it is told to a visitor. What a provider said, what is not configured and what broke is the administrator's
 * affair: visitors read the bot's own words, administrators the reason.
 */
export function toVisitorError(
  error: unknown,
  { bot, user }: Pick<Visitor, 'user'> & { readonly bot: Pick<Bot, 'texts' | 'limits'> },
): VisitorError {
  const known = error instanceof RestError ? error : null;
  const isTheirs = known !== null && forVisitors.has(known.code);
  if (isTheirs || (known !== null && user.can('manage_options'))) {
    return {
      type: 'error',
      code: known.code,
      message: known.message,
      status: known.status,
      retry: known.status >= 429,
    };
  }
  // The site's own budget: to visitors it is a limit like theirs.
  if (known?.code === 'rest_svc_budget_exhausted')
    return {
      type: 'error',
      code: 'rest_svc_chat_limit_reached',
      message: bot.limits.message,
      status: 429,
      retry: false,
    };
  return {
    type: 'error',
    code: 'rest_svc_chat_failed',
    message: bot.texts.error || unavailable,
    status: 502,
    retry: true,
  };
}

const forVisitors = new Set([
  'rest_svc_message_refused',
  'rest_svc_chat_limit_reached',
  'rest_svc_turn_running',
  'rest_svc_message_followed',
]);
