import { JobLostError, RestError, translateText, type DatabaseApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { nameOutage } from '../../../kit/outage.ts';
import { visitorFailure, type VisitorFailure } from '../../../kit/visitor-failure.ts';
import type { Bot } from '../bots/bot.ts';
import type { AnswerEnd } from './answer-stream.ts';
import type { Visitor } from './visitor.ts';

export type VisitorError = Extract<AnswerEnd, { type: 'error' }>;

/** For bots whose own texts are empty. */
const defaultMessages: Readonly<Record<VisitorFailure, string>> = {
  declined: 'The assistant does not answer this message. Try other words.',
  too_long: 'This conversation has become too long. Start a new one.',
  busy: 'The assistant is busy. Try again in a minute.',
  unavailable: 'The assistant is not available at the moment.',
  failed: 'The assistant cannot answer right now.',
};

/** The `error_code` that rules see. */
export function errorCodeOf(error: unknown): string {
  return error instanceof RestError ? error.code : 'rest_internal_error';
}

/**
 * An outage of the database as visitors see it, any other error as it is. The message may be stored, its answer is not: sending
 * it again is safe.
 */
export function nameChatOutage({ isUnavailable }: Pick<DatabaseApi, 'isUnavailable'>, error: unknown): unknown {
  const isOutage = (each: unknown): boolean => each instanceof JobLostError || isUnavailable(each);
  const message = 'The chat is not available at the moment. Try again in a few seconds.';
  return nameOutage({ isUnavailable: isOutage }, error, message);
}

/**
 * The error that a visitor sees. Provider messages, missing settings and internal errors are for administrators only:
 * visitors read the bot's own text instead.
 */
export function toVisitorError(
  error: unknown,
  { bot, user }: Pick<Visitor, 'user'> & { readonly bot: Pick<Bot, 'texts'> },
): VisitorError {
  const known = error instanceof RestError ? error : null;
  const failure = visitorFailure(error);
  const isForVisitors = known !== null && visitorCodes.has(known.code);
  if (isForVisitors || (known !== null && user.can('manage_options'))) {
    return {
      type: 'error',
      code: known.code,
      message: translateText(known.message),
      status: known.status,
      retry: isForVisitors ? known.status >= 429 : mayRetry(failure),
    };
  }
  const message = bot.texts[failure === 'failed' ? 'error' : failure] || translateText(defaultMessages[failure]);
  // Nothing is wrong with the site if a message is declined.
  const { code, status } =
    failure === 'declined' || failure === 'too_long' ? errors.message_refused() : errors.chat_failed();
  return { type: 'error', code, message, status, retry: mayRetry(failure) };
}

function mayRetry(failure: VisitorFailure): boolean {
  return failure === 'failed' || failure === 'busy';
}

const visitorCodes = new Set([
  'rest_service_unavailable',
  'rest_svc_message_refused',
  'rest_svc_chat_limit_reached',
  'rest_svc_turn_running',
  'rest_svc_message_followed',
]);
