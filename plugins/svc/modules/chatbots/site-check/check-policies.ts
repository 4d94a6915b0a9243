import { allowing, readPolicies, refusing, type Policy, type Wanted } from './content-security-policy.ts';
import type { Finding } from './finding.ts';

const title = 'Content security policy';

export interface PolicyFacts {
  readonly page: URL;
  readonly header: string | undefined;
  /** Only reported, not enforced. */
  readonly reportOnly: string | undefined;
  readonly metas: readonly string[];
  readonly wanted: readonly Wanted[];
}

/** Whether the page's own policies let the widget load and call; names exactly what to add, for each policy that refuses. */
export function checkPolicies({ page, header, reportOnly, metas, wanted }: PolicyFacts): Finding[] {
  const enforced = [
    ...readPolicies(header ?? '').map((policy) => ({ policy, where: 'the header Content-Security-Policy' })),
    ...metas.flatMap(readPolicies).map((policy) => ({ policy, where: 'the meta tag Content-Security-Policy' })),
  ];
  const failures = enforced.flatMap(({ policy, where }) => failureOf(policy, { where, wanted, page }));
  if (failures.length > 0) return failures;
  const announced = readPolicies(reportOnly ?? '').flatMap((policy) =>
    failureOf(policy, { where: 'the header Content-Security-Policy-Report-Only', wanted, page }),
  );
  if (announced.length > 0)
    return announced.map((finding) => ({
      ...finding,
      verdict: 'warning',
      text: `Not enforced yet, but it would keep the chat away: ${finding.text}`,
    }));
  if (enforced.length === 0)
    return [{ id: 'csp', title, verdict: 'passed', text: 'The page has none, so nothing keeps the widget away.' }];
  return [
    {
      id: 'csp',
      title,
      verdict: 'passed',
      text: 'It lets the widget load its script and call this site. (The widget needs no frames, no inline scripts and no inline styles.)',
    },
  ];
}

function failureOf(
  policy: Policy,
  { where, wanted, page }: { readonly where: string; readonly wanted: readonly Wanted[]; readonly page: URL },
): Finding[] {
  const refused = wanted.filter((each) => refusing(policy, each, page) !== null);
  if (refused.length === 0) return [];
  const isStrict = refused.some(
    (each) =>
      each.directive === 'script-src' &&
      allowing(policy, each)
        .split(' ')
        .every((source) => source !== each.url.origin),
  );
  const lines = [...new Set(refused.map((each) => allowing(policy, each)))];
  const sources = refused.map(({ directive, url }) => `${url.origin} to ${directive}`);
  const nonce = isStrict
    ? " Its script-src has 'strict-dynamic': addresses do not count there, so the script tag needs the page's nonce (nonce=\"…\")."
    : '';
  return [
    {
      id: 'csp',
      title,
      verdict: 'failed',
      text: `In ${where} add ${sources.join(', ')}.${nonce} ${lines.length === 1 ? 'The directive then reads:' : 'The directives then read:'}`,
      copy: { label: 'directives', value: `${lines.join('; ')};` },
    },
  ];
}
