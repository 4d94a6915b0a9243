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

  it('removes secrets of any length and any number', () => {
    const redactor = createRedactor();
    const long = 's'.repeat(1_000_000);
    redactor.add(long);
    const many = Array.from({ length: 2_000 }, (_, index) => `whsec_${index}_${'k'.repeat(40)}`);
    many.forEach(redactor.add);
    expect(redactor.redact(`a ${long} b ${many[1_999]} c`)).to.equal('a [redacted] b [redacted] c');
  });

  it('removes secrets that touch each other, and leaves what only begins like one', () => {
    const redactor = createRedactor();
    for (const secret of ['secret-one', 'secret-two']) redactor.add(secret);
    expect(redactor.redact('secret-onesecret-twosecret-thr')).to.equal('[redacted][redacted]secret-thr');
  });

  it('removes the escaped and the percent-encoded form', () => {
    const redactor = createRedactor();
    redactor.add('a"b c/dé');
    expect(redactor.redact('a\\"b c/dé a%22b%20c%2Fd%C3%A9')).to.equal('[redacted] [redacted]');
  });
});
