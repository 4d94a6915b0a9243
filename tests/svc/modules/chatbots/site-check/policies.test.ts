import { expect } from 'chai';
import { checkPolicies } from '../../../../../plugins/svc/modules/chatbots/site-check/check-policies.ts';
import {
  readPolicies,
  findBlockingDirective,
} from '../../../../../plugins/svc/modules/chatbots/site-check/content-security-policy.ts';

const page = new URL('https://shop.example/contact');
const script = new URL('https://site.example/wp-json/svc-widget/v1/widget.js');
const start = new URL('https://site.example/wp-json/svc-widget/v1/bots/7/start');
const required = [
  { directive: 'script-src', url: script },
  { directive: 'connect-src', url: start },
] as const;

const refused = (policy: string, url: URL = script, nonce?: string): string[] =>
  readPolicies(policy).flatMap(
    (each) => findBlockingDirective(each, { directive: 'script-src', url, nonce }, page) ?? [],
  );

describe('A content security policy', () => {
  for (const policy of [
    '',
    'img-src *',
    'script-src *',
    'script-src https:',
    'script-src http:',
    'script-src https://site.example',
    'script-src site.example',
    'script-src *.example',
    'SCRIPT-SRC SITE.EXAMPLE',
    'script-src https://site.example:443',
    'script-src https://site.example:*',
    'script-src https://site.example/wp-json/',
    'default-src https:',
    "script-src 'nonce-a1'",
    "script-src 'nonce-a1' 'strict-dynamic'",
    "script-src 'none'; script-src-elem https://site.example",
    'script-src http://site.example:80',
  ]) {
    it(`lets the script in: ${policy || '(none)'}`, () => {
      expect(refused(policy, script, 'a1')).to.deep.equal([]);
    });
  }

  for (const [policy, by] of [
    ["script-src 'self'", 'script-src'],
    ["script-src 'none'", 'script-src'],
    ['script-src', 'script-src'],
    ["default-src 'self'", 'default-src'],
    ["script-src *; script-src-elem 'self'", 'script-src-elem'],
    ['script-src https://other.example', 'script-src'],
    ['script-src https://site.example:8443', 'script-src'],
    ['script-src https://site.example/other/', 'script-src'],
    ['script-src https://site.example/widget.js', 'script-src'],
    ["script-src 'nonce-b2'", 'script-src'],
    ["script-src https://site.example 'strict-dynamic' 'nonce-b2'", 'script-src'],
    ['script-src *.site.example', 'script-src'],
    ["script-src 'unsafe-inline' 'unsafe-eval' data:", 'script-src'],
    ["script-src 'self'; script-src *", 'script-src'],
    ["script-src *, script-src 'self'", 'script-src'],
  ] as const) {
    it(`keeps the script out: ${policy}`, () => {
      expect(refused(policy, script, 'a1')).to.deep.equal([by]);
    });
  }

  it("takes 'self' for the page's own origin, https too where the page is on http", () => {
    const own = new URL('https://shop.example/x.js');
    expect(refused("script-src 'self'", own)).to.deep.equal([]);
    const [policy] = readPolicies("script-src 'self'");
    expect(
      findBlockingDirective(policy!, { directive: 'script-src', url: own }, new URL('http://shop.example/')),
    ).to.equal(null);
    expect(
      findBlockingDirective(policy!, { directive: 'script-src', url: new URL('http://shop.example/x.js') }, page),
    ).to.equal('script-src');
  });

  const check = (header: string, metas: readonly string[] = [], reportOnly?: string) =>
    checkPolicies({ page, header, reportOnly, metas, required });

  it('reports the directives to change when the policy blocks the widget', () => {
    const [finding, ...more] = check("default-src 'self'; script-src 'self' https://cdn.example; connect-src 'none'");
    expect(more).to.deep.equal([]);
    expect(finding?.verdict).to.equal('failed');
    expect(finding?.text)
      .to.contain('header')
      .and.to.contain('https://site.example to script-src')
      .and.to.contain('https://site.example to connect-src');
    expect(finding?.copy?.value).to.equal(
      "script-src 'self' https://cdn.example https://site.example; connect-src https://site.example;",
    );
  });

  it('adds a directive when the policy has only default-src', () => {
    expect(check("default-src 'self'")[0]?.copy?.value).to.equal(
      "script-src 'self' https://site.example; connect-src 'self' https://site.example;",
    );
  });

  it('allows the widget after the reported change', () => {
    for (const policy of [
      "default-src 'self'",
      "default-src 'none'; script-src 'self'; connect-src 'self'",
      "script-src-elem 'self'; connect-src https://a.example",
    ]) {
      const fixed = check(policy)[0]!
        .copy!.value.split(';')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      const rest = policy
        .split(';')
        .filter((part) => !fixed.some((each) => each.split(' ')[0] === part.trim().split(' ')[0]));
      expect(check([...fixed, ...rest].join(';'))[0]?.verdict, policy).to.equal('passed');
    }
  });

  it("with 'strict-dynamic' is told to want the page's nonce", () => {
    const [finding] = check("script-src 'nonce-b2' 'strict-dynamic'");
    expect(finding?.verdict).to.equal('failed');
    expect(finding?.text).to.contain('nonce=');
    expect(finding?.copy?.value).to.equal("script-src 'nonce-b2' 'strict-dynamic';");
  });

  it('checks each meta tag too', () => {
    const findings = check("script-src 'self'", ["connect-src 'self'"]);
    expect(findings.map(({ text }) => /header|meta/.exec(text)?.[0])).to.deep.equal(['header', 'meta']);
  });

  it('reports a warning for a policy that is not enforced', () => {
    expect(check('', [], "script-src 'self'").map(({ verdict }) => verdict)).to.deep.equal(['warning']);
    expect(check('')[0]?.verdict).to.equal('passed');
  });
});
