import { expect } from 'chai';
import type {
  Rule,
  RuleAction,
  RuleCondition,
  RuleFacts,
} from '../../../../../plugins/svc/modules/chatbots/rules/rule.ts';
import { runRules } from '../../../../../plugins/svc/modules/chatbots/rules/run-rules.ts';

const facts: RuleFacts = {
  message: 'Where is my Crème Brûlée?',
  message_count: 3,
  page_url: 'https://shop.example.com/cart?step=2',
  roles: ['editor', 'customer'],
  signed_in: true,
  form_id: 'contact',
  fields: { city: 'Oslo', amount: '12,5' },
  error_code: '',
  variables: { plan: 'Gold' },
  hour: 17,
  weekday: 5,
};

let count = 0;
function rule(action: RuleAction, init: Partial<Rule> = {}): Rule {
  count += 1;
  return {
    id: `rule-${count}`,
    name: 'Rule',
    enabled: true,
    event: 'message_received',
    conditions: [],
    priority: 10,
    action,
    ...init,
  };
}

const reply = (text: string, init: Partial<Rule> = {}): Rule => rule({ type: 'reply', text }, init);

function holds(condition: RuleCondition, changed: Partial<RuleFacts> = {}): boolean {
  return (
    runRules([reply('yes', { conditions: [condition] })], 'message_received', { ...facts, ...changed }).reply === 'yes'
  );
}

describe('rules of a chatbot', () => {
  it('match patterns in linear time, in any case, one pattern per line', () => {
    const matches = (value: string, message = facts.message): boolean =>
      holds({ fact: 'message', operator: 'matches', value }, { message });
    expect(matches('order\\s+#?\\d{3,}', 'Where is my Order  #1234?')).to.equal(true);
    expect(matches('^where\\b.*\\?$')).to.equal(true);
    expect(matches('^is\\b')).to.equal(false);
    expect(matches('nothing\n  crème ')).to.equal(true);
    const begun = process.cpuUsage().user;
    expect(matches('^(a+)+$', `${'a'.repeat(1_900)}!`)).to.equal(false);
    expect(matches('(x+x+)+y', 'x'.repeat(32_000))).to.equal(false);
    // A RegExp would run for ages.
    expect(process.cpuUsage().user - begun).to.be.below(2_000_000);
  });

  it('name the URLs to call, with their rule', () => {
    const call = rule({ type: 'call_url', url: 'https://crm.example.com/lead' });
    expect(runRules([call, reply('yes')], 'message_received', facts)).to.deep.include({
      urls: [{ rule: call.id, url: 'https://crm.example.com/lead' }],
      reply: 'yes',
    });
  });

  it('run only for their event, and only while enabled', () => {
    const rules = [reply('a', { event: 'error' }), reply('b', { enabled: false }), reply('c')];
    expect(runRules(rules, 'message_received', facts).reply).to.equal('c');
    expect(runRules(rules, 'error', facts).reply).to.equal('a');
    expect(runRules(rules, 'session_started', facts)).to.deep.include({ reply: null, matched: [] });
  });

  it('run by priority, then by their order', () => {
    const rules = [
      rule({ type: 'add_context', text: 'third' }, { priority: 20 }),
      rule({ type: 'add_context', text: 'first' }, { priority: -1 }),
      rule({ type: 'add_context', text: 'second' }, { priority: 20 - 1 }),
      rule({ type: 'add_context', text: 'fourth' }, { priority: 20 }),
    ];
    const outcome = runRules(rules, 'message_received', facts);
    expect(outcome.contexts).to.deep.equal(['first', 'second', 'third', 'fourth']);
    expect(outcome.matched).to.deep.equal([rules[1]?.id, rules[2]?.id, rules[0]?.id, rules[3]?.id]);
  });

  it('end with the first reply or block, and keep earlier results', () => {
    const rules = [
      rule({ type: 'store', name: 'topic', value: '{message}' }),
      rule({ type: 'block', text: 'No.' }),
      reply('too late'),
      rule({ type: 'call_hook', name: 'late' }),
    ];
    expect(runRules(rules, 'message_received', facts)).to.deep.include({
      block: 'No.',
      reply: null,
      hooks: [],
      stored: [{ name: 'topic', value: facts.message }],
    });
  });

  it('act only when all conditions match', () => {
    const rules = [
      reply('both', {
        conditions: [
          { fact: 'message', operator: 'contains', value: 'creme' },
          { fact: 'hour', operator: 'less_than', value: '9' },
        ],
      }),
    ];
    expect(runRules(rules, 'message_received', facts).reply).to.equal(null);
    expect(runRules(rules, 'message_received', { ...facts, hour: 8 }).reply).to.equal('both');
  });

  it('see the variables that earlier rules set, and do not change those of the conversation', () => {
    const rules = [
      rule({ type: 'set_variable', name: 'city', value: '{field:city}' }),
      rule({ type: 'set_variable', name: 'greeting', value: 'Hello from {variable:city}, {variable:plan}' }),
      reply('{variable:greeting}!', { conditions: [{ fact: 'variable:city', operator: 'equals', value: 'oslo' }] }),
    ];
    const outcome = runRules(rules, 'message_received', facts);
    expect(outcome.reply).to.equal('Hello from Oslo, Gold!');
    expect(outcome.variables).to.deep.equal({ plan: 'Gold', city: 'Oslo', greeting: 'Hello from Oslo, Gold' });
    expect(facts.variables).to.deep.equal({ plan: 'Gold' });
  });

  it('show each form once', () => {
    const form = rule({ type: 'display_form', form_id: 'contact' });
    expect(runRules([form, { ...form, id: 'again' }], 'message_received', facts).forms).to.deep.equal(['contact']);
  });

  it('do not replace placeholders in inserted values, and keep other braces', () => {
    const outcome = runRules([reply('{message} {unknown} {variable:none}|{field:constructor}')], 'message_received', {
      ...facts,
      message: '{page_url}',
    });
    expect(outcome.reply).to.equal('{page_url} {unknown} |');
  });
});

describe('conditions of rules', () => {
  const table: readonly [string, RuleCondition, boolean][] = [
    ['contains without case and accents', { fact: 'message', operator: 'contains', value: 'BRULEE' }, true],
    ['contains one of several', { fact: 'message', operator: 'contains', value: 'pizza\ncrème' }, true],
    ['contains none of several', { fact: 'message', operator: 'not_contains', value: 'pizza\ncrème' }, false],
    ['not_contains', { fact: 'message', operator: 'not_contains', value: 'pizza' }, true],
    ['contains with nothing wanted', { fact: 'message', operator: 'contains', value: ' ' }, false],
    ['equals one of the roles', { fact: 'role', operator: 'equals', value: 'Customer' }, true],
    ['not_equals asks that no role fits', { fact: 'role', operator: 'not_equals', value: 'editor' }, false],
    ['not_equals of another role', { fact: 'role', operator: 'not_equals', value: 'administrator' }, true],
    ['starts_with', { fact: 'page_url', operator: 'starts_with', value: 'https://shop.example.com/' }, true],
    ['ends_with', { fact: 'page_url', operator: 'ends_with', value: '/cart' }, false],
    ['equals a number as text', { fact: 'message_count', operator: 'equals', value: '3' }, true],
    ['greater_than', { fact: 'message_count', operator: 'greater_than', value: '2' }, true],
    ['greater_than is strict', { fact: 'message_count', operator: 'greater_than', value: '3' }, false],
    ['compares by number, not by letter', { fact: 'message_count', operator: 'less_than', value: '10' }, true],
    ['a decimal comma', { fact: 'field:amount', operator: 'greater_than', value: '12.4' }, true],
    ['a text is no number', { fact: 'message', operator: 'less_than', value: '5' }, false],
    ['a blank is no number', { fact: 'error_code', operator: 'less_than', value: '5' }, false],
    ['signed_in', { fact: 'signed_in', operator: 'equals', value: 'yes' }, true],
    ['is_empty', { fact: 'error_code', operator: 'is_empty', value: '' }, true],
    ['is_not_empty', { fact: 'variable:plan', operator: 'is_not_empty', value: '' }, true],
    ['a variable that was never set is empty', { fact: 'variable:toString', operator: 'is_empty', value: '' }, true],
    ['equals nothing', { fact: 'error_code', operator: 'equals', value: '' }, true],
    ['weekday', { fact: 'weekday', operator: 'equals', value: '5' }, true],
    ['form_id', { fact: 'form_id', operator: 'equals', value: 'contact' }, true],
  ];
  for (const [title, condition, expected] of table) {
    it(`${title}: ${expected ? 'matches' : 'does not match'}`, () => {
      expect(holds(condition)).to.equal(expected);
    });
  }

  it('of the role compare an empty text for a guest', () => {
    expect(holds({ fact: 'role', operator: 'is_empty', value: '' }, { roles: [], signed_in: false })).to.equal(true);
    expect(holds({ fact: 'signed_in', operator: 'equals', value: 'no' }, { roles: [], signed_in: false })).to.equal(
      true,
    );
  });
});
