import { expect } from 'chai';
import { listErrors, duplicateErrors } from '../../../plugins/svc/kit/field-errors.ts';
import { domainErrors } from '../../../plugins/svc/kit/visitors/allowed-domain.ts';

describe('errors of lists', () => {
  it('name each duplicate and the value that it repeats', () => {
    expect(duplicateErrors('rules', ['a', 'b', 'a', 'a'])).to.deep.equal({
      'rules[2].id': 'rules[2].id is the same as that of rules[0].',
      'rules[3].id': 'rules[3].id is the same as that of rules[0].',
    });
    expect(duplicateErrors('options', ['x', 'x'], 'value')).to.have.all.keys('options[1].value');
    expect(duplicateErrors('rules', ['a', 'b'])).to.deep.equal({});
  });

  it('name each invalid value and what it must be', () => {
    expect(listErrors('words', ['ok', ' '], (word) => (word.trim() === '' ? 'must not be blank' : null))).to.deep.equal(
      { 'words[1]': 'words[1] must not be blank.' },
    );
  });

  it('name each invalid domain', () => {
    expect(domainErrors({ enabled: true, any_site: false, allowed_domains: ['example.com', '*.com'] })).to.deep.equal({
      'embed.allowed_domains[1]':
        'embed.allowed_domains[1] must be a domain such as example.com, https://shop.example.com:8443 or *.example.com.',
    });
  });
});
