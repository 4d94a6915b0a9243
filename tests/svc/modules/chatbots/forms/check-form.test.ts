import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { checkForm as checkWithFacts } from '../../../../../plugins/svc/modules/chatbots/forms/check-form.ts';
import type { BotForm, CheckedForm, FormElement } from '../../../../../plugins/svc/modules/chatbots/forms/form.ts';

const options = [
  { value: 'a', label: 'Apples' },
  { value: 'b', label: 'Bananas' },
  { value: 'c', label: 'Cherries' },
];

const guestFacts = { pageUrl: '', pageTitle: '', user: { id: 0, displayName: '', email: '' } };

function checkForm(checked: BotForm, values: Record<string, unknown>, facts = guestFacts): CheckedForm {
  return checkWithFacts(checked, values, facts);
}

function element(id: string, init: Partial<FormElement> = {}): FormElement {
  return { id, type: 'text', label: id, help: '', placeholder: '', required: false, options: [], source: '', ...init };
}

function form(...elements: readonly FormElement[]): BotForm {
  return { id: 'contact', name: 'Contact', intro: '', submit_label: '', thanks: '', elements };
}

function errorsOf(checked: BotForm, values: Record<string, unknown>): unknown {
  try {
    checkForm(checked, values);
  } catch (error) {
    expect(error).to.be.instanceOf(RestError);
    const { code, status, data } = error as RestError;
    expect({ code, status }).to.deep.equal({ code: 'rest_invalid_param', status: 400 });
    return (data as { params: unknown }).params;
  }
  return null;
}

describe('a submitted form', () => {
  const whole = form(
    element('name', { label: 'First name', required: true }),
    element('story', { type: 'textarea', label: 'Your story' }),
    element('mail', { type: 'email', label: 'Where to write' }),
    element('call', { type: 'phone', label: 'Where to call' }),
    element('amount', { type: 'number', label: 'How many' }),
    element('fruit', { type: 'select', label: 'Fruit', options }),
    element('other', { type: 'radio', label: 'Other fruit', options }),
    element('basket', { type: 'checkbox', label: 'Basket', options }),
    element('terms', { type: 'consent', label: 'I agree', required: true }),
  );

  it('returns values, display values, labels, aliases and a summary (contract 6.5)', () => {
    const checked = checkForm(whole, {
      name: ' Ada ',
      story: 'One\nTwo',
      mail: 'ada@example.com',
      call: '+47 22 33 44 55',
      amount: '3',
      fruit: 'b',
      other: '',
      basket: ['c', 'a'],
      terms: true,
      unknown: 'left out',
    });
    expect(checked).to.deep.equal({
      inputs: {
        name: 'Ada',
        story: 'One\nTwo',
        mail: 'ada@example.com',
        call: '+47 22 33 44 55',
        amount: 3,
        fruit: 'b',
        other: '',
        basket: ['a', 'c'],
        terms: true,
        email: 'ada@example.com',
        first_name: 'Ada',
        phone: '+47 22 33 44 55',
      },
      display_values: {
        name: 'Ada',
        story: 'One\nTwo',
        mail: 'ada@example.com',
        call: '+47 22 33 44 55',
        amount: '3',
        fruit: 'Bananas',
        other: '',
        basket: 'Apples, Cherries',
        terms: 'Yes',
        email: 'ada@example.com',
        first_name: 'Ada',
        phone: '+47 22 33 44 55',
      },
      labels: {
        name: 'First name',
        story: 'Your story',
        mail: 'Where to write',
        call: 'Where to call',
        amount: 'How many',
        fruit: 'Fruit',
        other: 'Other fruit',
        basket: 'Basket',
        terms: 'I agree',
      },
      summary:
        'First name: Ada\nYour story: One\nTwo\nWhere to write: ada@example.com\nWhere to call: +47 22 33 44 55\nHow many: 3\nFruit: Bananas\nOther fruit: -\nBasket: Apples, Cherries\nI agree: Yes',
    });
  });

  it('rejects every empty required element with its own error', () => {
    expect(errorsOf(whole, {})).to.deep.equal({ name: 'First name is required.', terms: 'Please agree: I agree' });
    expect(errorsOf(whole, { name: '   ', terms: false })).to.have.keys('name', 'terms');
  });

  it('lists every invalid element at once', () => {
    const errors = errorsOf(whole, {
      name: 'Ada\nLovelace',
      story: 'x'.repeat(10_001),
      mail: 'ada@',
      call: 'call me',
      amount: 'many',
      fruit: 'z',
      other: ['a'],
      basket: ['a', 'z'],
      terms: 'perhaps',
    });
    expect(errors).to.have.all.keys('name', 'story', 'mail', 'call', 'amount', 'fruit', 'other', 'basket', 'terms');
    expect(errors).to.include({
      fruit: 'Fruit must be one of: Apples, Bananas, Cherries.',
      basket: 'Basket allows only: Apples, Bananas, Cherries.',
    });
  });

  it('accepts real email addresses and rejects others', () => {
    const mail = form(element('mail', { type: 'email' }));
    for (const address of ['ada@example.com', 'a.b+c@sub.example.co.uk', "o'neil@example.org", 'jörg@müller.de'])
      expect(errorsOf(mail, { mail: address }), address).to.equal(null);
    for (const address of [
      'ada',
      'ada@',
      '@example.com',
      'ada@example',
      'a b@example.com',
      'ada@exa mple.com',
      'ada@-example.com',
      `${'a'.repeat(250)}@example.com`,
    ])
      expect(errorsOf(mail, { mail: address }), address).to.have.key('mail');
  });

  it('accepts phone numbers in common formats', () => {
    const phone = form(element('call', { type: 'phone' }));
    for (const number of ['+1 (555) 010-2030', '22334455', '0049 30 123456', '555 010 2030 ext 12'])
      expect(errorsOf(phone, { call: number }), number).to.equal(null);
    for (const number of ['12', '+', '1234567890123456789012', '555-CALL-NOW'])
      expect(errorsOf(phone, { call: number }), number).to.have.key('call');
  });

  it('accepts numbers with a point or a comma, zero and negative numbers, and rejects Infinity', () => {
    const amount = form(element('amount', { type: 'number', required: true }));
    expect(checkForm(amount, { amount: '12,5' }).inputs).to.deep.equal({ amount: 12.5 });
    expect(checkForm(amount, { amount: 0 }).inputs).to.deep.equal({ amount: 0 });
    expect(checkForm(amount, { amount: '-3' }).inputs).to.deep.equal({ amount: -3 });
    for (const value of ['Infinity', 'NaN', '', null, '1e999', {}])
      expect(errorsOf(amount, { amount: value })).to.have.key('amount');
  });

  it('handles ids that are members of every object', () => {
    const odd = form(element('constructor', { required: true }), element('toString'));
    expect(errorsOf(odd, {})).to.have.key('constructor');
    expect(checkForm(odd, { constructor: 'x' }).inputs).to.deep.include({ toString: '' });
  });
});

describe('aliases of a submitted form', () => {
  it('are found by id or label in several languages', () => {
    const { inputs } = checkForm(
      form(
        element('f1', { label: 'Vorname' }),
        element('f2', { label: 'Nom de famille' }),
        element('f3', { label: 'Téléphone' }),
        element('f4', { label: 'Company name' }),
        element('f5', { label: 'E-Mail' }),
      ),
      { f1: 'Ada', f2: 'Lovelace', f3: '22334455', f4: 'Engines Ltd', f5: 'ada@example.com' },
    );
    expect(inputs).to.include({
      first_name: 'Ada',
      last_name: 'Lovelace',
      phone: '22334455',
      company: 'Engines Ltd',
      email: 'ada@example.com',
    });
  });

  it('split a field for the full name', () => {
    expect(checkForm(form(element('full_name')), { full_name: 'Ada King Lovelace' }).inputs).to.include({
      first_name: 'Ada King',
      last_name: 'Lovelace',
    });
    expect(checkForm(form(element('name')), { name: 'Ada' }).inputs).to.deep.equal({ name: 'Ada', first_name: 'Ada' });
  });

  it('never replace a field with that id, and are absent without a value', () => {
    const both = form(
      element('phone', { label: 'Favourite colour' }),
      element('tel', { type: 'phone', label: 'Call' }),
    );
    expect(checkForm(both, { phone: 'red', tel: '22334455' }).inputs).to.deep.equal({ phone: 'red', tel: '22334455' });
    expect(checkForm(form(element('email', { type: 'email' })), { email: '' }).inputs).to.deep.equal({ email: '' });
  });

  it('has hidden fields that the server fills, whatever the browser sends', () => {
    const hidden = (id: string, source: string): FormElement =>
      element(id, { type: 'hidden', label: `H ${id}`, source });
    const sources = ['page_url', 'page_title', 'query:utm_source', 'user_id', 'user_name', 'user_email'];
    const checked = form(
      ...sources.map((source, at) => hidden(`h${String(at)}`, source)),
      element('mail', { type: 'email', label: 'E-mail' }),
    );
    const pageUrl = 'https://shop.example.com/a?utm_source=Spring%0A2026&long=' + 'x'.repeat(3000) + '#top';
    const user = { id: 7, displayName: 'Ada Lovelace', email: 'ada@example.com' };
    const values = {
      ...Object.fromEntries(sources.map((_, at) => [`h${String(at)}`, 'forged'])),
      mail: 'b@example.com',
    };
    const { inputs, display_values, labels, summary } = checkForm(checked, values, {
      pageUrl,
      pageTitle: ` A\u0000small\r\nshop \ud800${'y'.repeat(600)}`,
      user,
    });
    expect(inputs).to.deep.equal({
      h0: pageUrl.slice(0, 2000),
      h1: `A small shop ${'y'.repeat(600)}`.slice(0, 500),
      h2: 'Spring 2026',
      h3: '7',
      h4: 'Ada Lovelace',
      h5: 'ada@example.com',
      mail: 'b@example.com',
      email: 'b@example.com',
    });
    expect(display_values).to.deep.equal(inputs);
    expect(labels).to.include({ h0: 'H h0', mail: 'E-mail' });
    expect(summary).to.contain('H h2: Spring 2026\nH h3: 7');
    expect(checkForm(checked, { h3: '1', h5: 'x@example.com' }).inputs).to.deep.equal({
      ...Object.fromEntries(sources.map((_, at) => [`h${String(at)}`, ''])),
      mail: '',
    });
  });
});
