import { expect } from 'chai';
import type { Rule } from '../../../../../plugins/svc/modules/chatbots/rules/rule.ts';
import { inRunOrder, movedRule } from '../../../../../plugins/svc/modules/chatbots/pages/bot-rules.page.ts';
import { describeCondition } from '../../../../../plugins/svc/modules/chatbots/pages/bot-rule-labels.ts';
import { describeBotsAdmin, errorsIn } from './bots-admin.ts';

const rulesPage = '/admin/svc/bots/rules';
const rulePage = '/admin/svc/bots/rule';

const contact = { id: 'contact', name: 'Contact', elements: [{ id: 'email', type: 'email', label: 'E-mail' }] };
/** A rule for each action, with each kind of fact. */
const rules = [
  {
    id: 'a',
    name: 'Reply',
    event: 'message_received',
    conditions: [
      { fact: 'message', operator: 'contains', value: 'one\ntwo' },
      { fact: 'variable:asked', operator: 'is_empty', value: '' },
    ],
    action: { type: 'reply', text: 'Hello "you" & <you>\nsecond line' },
    priority: 5,
  },
  {
    id: 'b',
    name: '',
    event: 'message_received',
    enabled: false,
    conditions: [],
    action: { type: 'add_context', text: 'Be brief' },
  },
  {
    id: 'c',
    name: 'Refuse',
    event: 'message_received',
    conditions: [{ fact: 'hour', operator: 'greater_than', value: '20' }],
    action: { type: 'block', text: 'Closed' },
  },
  {
    id: 'd',
    name: 'Form',
    event: 'session_started',
    conditions: [{ fact: 'role', operator: 'not_equals', value: 'editor' }],
    action: { type: 'display_form', form_id: 'contact' },
  },
  {
    id: 'e',
    name: 'Variable',
    event: 'form_submitted',
    conditions: [{ fact: 'field:email', operator: 'ends_with', value: '@example.com' }],
    action: { type: 'set_variable', name: 'mail', value: '{field:email}' },
  },
  {
    id: 'f',
    name: 'Note',
    event: 'form_submitted',
    conditions: [],
    action: { type: 'store', name: 'Where from', value: '{page_url}' },
  },
  { id: 'g', name: 'Hook', event: 'error', conditions: [], action: { type: 'call_hook', name: 'tell_team' } },
];

describeBotsAdmin('the rules of a chatbot', (admin) => {
  it('stay unchanged when saved untouched, for each action and fact', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const before = await add({ forms: [contact], rules });
    for (const { id } of rules) {
      const path = `${rulePage}?bot=${String(before.id)}&rule=${id}`;
      expect((await browser.submit(path, 'save', await fieldsOf(path))).text, id).to.contain('saved.');
    }
    expect((await bots())[0]?.rules).to.deep.equal(before.rules);
    const { text } = await browser.get(`${rulesPage}?bot=${String(before.id)}`);
    expect(text)
      .to.contain('The message contains “one” or “two” and Variable asked is empty')
      .and.contain('then show the form Contact')
      .and.contain('Add context: Be brief')
      .and.contain('call svc_chatbot_rule_tell_team')
      .and.contain('Hello "you" & <you> second line');
  });

  it('are created with a unique id, in the order in which they run', async () => {
    const { browser, add, bots } = admin();
    const { id } = await add({ rules: [{ id: 'late', event: 'error', action: { type: 'reply', text: 'x' } }] });
    const path = `${rulePage}?bot=${String(id)}`;
    const fields = {
      bot: String(id),
      rule: '',
      name: 'Läte',
      enabled: '1',
      event: 'error',
      priority: '',
      'action[type]': 'reply',
      'action[text]': 'Sorry',
      'action[name]': 'left over',
    };
    expect((await browser.submit(path, 'save', fields)).text).to.contain('Läte saved.');
    await browser.submit(path, 'save', { ...fields, name: 'Late' });
    expect((await bots())[0]?.rules.map((rule) => [rule.id, rule.action, rule.priority])).to.deep.equal([
      ['late', { type: 'reply', text: 'x' }, 10],
      ['late-2', { type: 'reply', text: 'Sorry' }, 10],
      ['late-3', { type: 'reply', text: 'Sorry' }, 10],
    ]);
    await browser.submit(`${rulesPage}?bot=${String(id)}`, 'move', { bot: String(id), rule: 'late-3', to: 'up' });
    await browser.submit(`${rulesPage}?bot=${String(id)}`, 'switch', { bot: String(id), rule: 'late', enabled: '0' });
    await browser.submit(`${rulesPage}?bot=${String(id)}`, 'delete', { bot: String(id), rule: 'late-2' });
    expect((await bots())[0]?.rules.map((rule) => [rule.id, rule.enabled])).to.deep.equal([
      ['late', false],
      ['late-3', true],
    ]);
    expect(
      (await browser.submit(`${rulesPage}?bot=${String(id)}`, 'delete', { bot: String(id), rule: 'late-2' })).text,
    ).to.contain('This rule was already deleted.');
  });

  it('let conditions be added and removed without saving', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const { id } = await add({ forms: [contact], rules });
    const path = `${rulePage}?bot=${String(id)}&rule=a`;
    const fields = await fieldsOf(path);
    const nonce =
      /name="_nonce" value="([^"]+)"/.exec((await browser.get(path)).html.split('id="bot-form"')[1] ?? '')?.[1] ?? '';
    const more = await browser.post(`${rulePage}?action=arrange`, {
      ...fields,
      'action[text]': 'Typed',
      _do: 'add',
      _nonce: nonce,
    });
    expect([
      more.status,
      more.html.match(/data-row="condition"/g)?.length,
      more.html.includes('>Typed</textarea>'),
    ]).to.deep.equal([200, 3, true]);
    const fewer = await browser.post(`${rulePage}?action=arrange`, { ...fields, _do: 'remove:0', _nonce: nonce });
    expect([
      fewer.html.match(/data-row="condition"/g)?.length,
      fewer.html.includes('value="asked"'),
      fewer.html.includes('>one\ntwo<'),
    ]).to.deep.equal([1, true, false]);
    for (const asked of ['remove:99', 'remove:-1', 'nonsense', 'constructor'])
      expect(
        (await browser.post(`${rulePage}?action=arrange`, { ...fields, _do: asked, _nonce: nonce })).html.match(
          /data-row="condition"/g,
        )?.length,
        asked,
      ).to.equal(2);
    expect((await bots())[0]?.rules[0]?.conditions).to.have.length(2);
  });

  it('are rejected with an error at each invalid field', async () => {
    const { browser, add, bots } = admin();
    const { id } = await add();
    const path = `${rulePage}?bot=${String(id)}`;
    const fields = {
      bot: String(id),
      rule: '',
      name: 'Typed',
      enabled: '1',
      event: 'message_received',
      priority: 'soon',
      'conditions[0][fact]': 'variable',
      'conditions[0][which]': 'a b',
      'conditions[0][operator]': 'likes',
      'conditions[0][value]': 'kept',
      'action[type]': 'reply',
      'action[text]': '',
    };
    const refused = await browser.submit(path, 'save', fields);
    expect([refused.status, errorsIn(refused.html)]).to.deep.equal([
      400,
      {
        'condition-0-which': 'The name must contain only letters, digits, - and _.',
        'condition-0-operator':
          'Comparison must be one of contains, not_contains, equals, not_equals, starts_with, ends_with, matches, greater_than, less_than, is_empty, is_not_empty.',
        'action-text': 'Text must not be empty.',
        'rule-priority': 'Priority must be a whole number from -1000000 to 1000000.',
      },
    ]);
    expect(refused.html).to.contain('value="Typed"').and.contain('>kept</textarea>').and.contain('value="soon"');
    const formless = await browser.submit(path, 'save', {
      ...fields,
      priority: '',
      'conditions[0][which]': 'ab',
      'conditions[0][operator]': 'equals',
      'action[type]': 'display_form',
      'action[form_id]': 'contact',
    });
    expect(errorsIn(formless.html)).to.deep.equal({ 'action-form': 'This chatbot has no form yet. Create one first.' });
    const hook = await browser.submit(path, 'save', {
      ...fields,
      priority: '',
      'conditions[0][which]': 'ab',
      'conditions[0][operator]': 'equals',
      'action[type]': 'call_hook',
      'action[hook]': 'Tell Team',
    });
    expect(errorsIn(hook.html)).to.deep.equal({
      'action-hook': 'Name must contain only lowercase letters, digits and _.',
    });
    expect((await bots())[0]?.rules).to.deep.equal([]);
    expect((await browser.get(`${rulePage}?bot=${String(id)}&rule=gone`)).status).to.equal(404);
  });
});

describe('the order of rules', () => {
  const rule = (id: string, priority: number, event: Rule['event'] = 'error'): Rule => ({
    id,
    name: '',
    enabled: true,
    event,
    conditions: [],
    action: { type: 'reply', text: 'x' },
    priority,
  });
  const order = (rules: readonly Rule[]): string[] => inRunOrder(rules, 'error').map(({ id }) => id);

  it('moves a rule by one position, whatever the priorities', () => {
    const given = [rule('a', 10), rule('other', 1, 'session_started'), rule('b', 10), rule('c', 5), rule('d', 20)];
    expect(order(given)).to.deep.equal(['c', 'a', 'b', 'd']);
    expect(order(movedRule(given, 'b', -1))).to.deep.equal(['c', 'b', 'a', 'd']);
    expect(order(movedRule(given, 'a', -1))).to.deep.equal(['a', 'c', 'b', 'd']);
    expect(order(movedRule(given, 'b', 1))).to.deep.equal(['c', 'a', 'd', 'b']);
    expect(order(movedRule(given, 'c', -1))).to.deep.equal(['c', 'a', 'b', 'd']);
    expect(order(movedRule(given, 'd', 1))).to.deep.equal(['c', 'a', 'b', 'd']);
    for (const moved of [movedRule(given, 'd', -1), movedRule(given, 'none', 1)])
      expect(moved.map(({ id }) => id)).to.have.members(['a', 'b', 'c', 'd', 'other']);
  });

  it('describes conditions in plain language', () => {
    expect(describeCondition({ fact: 'message', operator: 'contains', value: 'a\nb\nc\nd\ne' })).to.equal(
      'The message contains “a”, “b”, “c” or 2 more',
    );
    expect(describeCondition({ fact: 'signed_in', operator: 'equals', value: 'yes' })).to.equal('Signed in is “yes”');
    expect(describeCondition({ fact: 'field:email', operator: 'is_not_empty', value: '' })).to.equal(
      'Field email is not empty',
    );
    expect(describeCondition({ fact: 'page_url', operator: 'starts_with', value: '' })).to.equal(
      'URL of the page starts with nothing',
    );
  });
});
