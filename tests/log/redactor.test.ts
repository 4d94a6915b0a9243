import { expect } from 'chai';
import { createRedactor } from '../../host/log/redactor.ts';

describe('redactor', () => {
  it('leaves text alone while it knows nothing', () => {
    expect(createRedactor().redact('plain')).to.equal('plain');
  });

  it('cuts the longest of two secrets that begin alike', () => {
    const redactor = createRedactor();
    redactor.add('secret');
    redactor.add('secret-longer');
    expect(redactor.redact('secret-longer and secret')).to.equal('[redacted] and [redacted]');
  });

  it('takes characters of patterns literally', () => {
    const redactor = createRedactor();
    redactor.add('a.c+(d)[e]$/-\\');
    expect(redactor.redact('abc+(d)[e]$/-\\ a.c+(d)[e]$/-\\')).to.equal('abc+(d)[e]$/-\\ [redacted]');
  });

  it('ignores texts too short to be secrets', () => {
    const redactor = createRedactor();
    for (const short of ['', ' ', 'a', '12345']) redactor.add(short);
    expect(redactor.redact('a 12345')).to.equal('a 12345');
  });
});
