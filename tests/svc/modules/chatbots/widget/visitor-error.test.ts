import { expect } from 'chai';
import { errors } from '../../../../../plugins/svc/kit/errors.ts';
import type { Bot } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { toVisitorError } from '../../../../../plugins/svc/modules/chatbots/widget/visitor-error.ts';
import type { Visitor } from '../../../../../plugins/svc/modules/chatbots/widget/visitor.ts';

describe('a used-up budget of the site, in the chat', () => {
  const error = errors.budget_exhausted({ values: { budget: 'Secret plans', period: 'today', date: '1 December' } });
  const bot = { texts: { error: 'Sorry.', unavailable: 'Closed today.' } } as Bot;
  const errorFor = (administrator: boolean) =>
    toVisitorError(error, { bot, user: { can: () => administrator } as unknown as Visitor['user'] });

  it('is no limit of the visitor: the assistant is not available', () => {
    expect(errorFor(false)).to.deep.equal({
      type: 'error',
      code: 'rest_svc_chat_failed',
      message: 'Closed today.',
      status: 502,
      retry: false,
    });
  });

  it('is named for administrators', () => {
    expect(errorFor(true)).to.include({
      code: 'rest_svc_budget_exhausted',
      message: 'The budget “Secret plans” is used up for today. It resets on 1 December.',
    });
  });
});
