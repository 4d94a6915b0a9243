import { expect } from 'chai';
import {
  fillTemplate,
  placeholdersOf,
  templateErrors,
} from '../../../../plugins/svc/modules/ai-forms/forms/prompt-template.ts';

const element = (id: string, required = false) => ({ id, label: id.toUpperCase(), required });

describe('the prompt of a form', () => {
  it('gets what was filled in, once: braces in values mean themselves', () => {
    expect(fillTemplate('{a} and {b-2}, {a}', { a: '{b-2} {{a}} $& $1', 'b-2': 'B' })).to.equal(
      '{b-2} {{a}} $& $1 and B, {b-2} {{a}} $& $1',
    );
  });

  it('keeps braces that are no placeholder, and those that are written twice', () => {
    const template = 'Answer as {"name": "{a}"}, { a }, {} and {{a}}; {toString}';
    expect(fillTemplate(template, { a: 'x' })).to.equal('Answer as {"name": "x"}, { a }, {} and {a}; {toString}');
    expect(placeholdersOf(template)).to.deep.equal(['a', 'toString']);
  });

  it('is told what it gets wrong: unknown fields, and required ones that are not used', () => {
    expect(templateErrors('{a} {b}', [element('a', true), element('b')])).to.deep.equal({});
    expect(templateErrors('{a} {c} {d} {{e}}', [element('a'), element('b', true)])).to.deep.equal({
      prompt:
        'prompt uses {c}, {d}, but no field has that id. Available: {a}, {b}. Write {{name}} for a literal {name}. It does not use the required field “B”. Insert {b}, or make the field optional.',
    });
    expect(templateErrors('{a}', [])['prompt']).to.contain('The form has no fields yet.');
  });
});
