import { expect } from 'chai';
import { errors } from '../../../../../plugins/svc/kit/errors.ts';
import type { Bot } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { failureOf } from '../../../../../plugins/svc/modules/chatbots/widget/visitor-error.ts';
import type { Visitor } from '../../../../../plugins/svc/modules/chatbots/widget/visitor.ts';

describe('a budget of the site that is used up, in the chat', () => {
  const error = errors.budget_exhausted({ values: { budget: 'Secret plans', period: 'today', seconds: 60 } });
  const bot = { texts: { error: 'Sorry.' }, limits: { message: 'Come back tomorrow.' } } as Bot;
  const told = (administrator: boolean) =>
    failureOf(error, { bot, user: { can: () => administrator } as unknown as Visitor['user'] });

  it('is a limit like theirs to visitors, in the bot’s own words', () => {
    expect(told(false)).to.deep.equal({
      type: 'error',
      code: 'rest_svc_chat_limit_reached',
      message: 'Come back tomorrow.',
      status: 429,
      retry: false,
    });
  });

  it('is named to administrators', () => {
    expect(told(true)).to.include({
      code: 'rest_svc_budget_exhausted',
      message: 'The budget “Secret plans” is used up for today. Try again in 60 seconds.',
    });
  });
});
