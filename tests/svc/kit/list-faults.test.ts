import { expect } from 'chai';
import { listFaults, repeatFaults } from '../../../plugins/svc/kit/settings-schema/list-faults.ts';
import { domainFaults } from '../../../plugins/svc/kit/visitors/allowed-domain.ts';

describe('faults of lists', () => {
  it('name each value that was there before, and which it repeats', () => {
    expect(repeatFaults('rules', ['a', 'b', 'a', 'a'])).to.deep.equal({
      'rules[2].id': 'rules[2].id is the same as that of rules[0].',
      'rules[3].id': 'rules[3].id is the same as that of rules[0].',
    });
    expect(repeatFaults('options', ['x', 'x'], 'value')).to.have.all.keys('options[1].value');
    expect(repeatFaults('rules', ['a', 'b'])).to.deep.equal({});
  });

  it('name each value that is not right, with what it must be', () => {
    expect(listFaults('words', ['ok', ' '], (word) => (word.trim() === '' ? 'must not be blank' : null))).to.deep.equal(
      { 'words[1]': 'words[1] must not be blank.' },
    );
  });

  it('name what is no domain', () => {
    expect(domainFaults({ enabled: true, any_site: false, allowed_domains: ['example.com', '*.com'] })).to.deep.equal({
      'embed.allowed_domains[1]':
        'embed.allowed_domains[1] must be a domain such as example.com, https://shop.example.com:8443 or *.example.com.',
    });
  });
});
