import { extendDirective, readPolicies, findBlockingDirective } from './content-security-policy.ts';
import type { Policy, RequiredSource } from './content-security-policy.ts';
import type { Finding } from './finding.ts';

const title = 'Content security policy';

export interface PolicyFacts {
  readonly page: URL;
  readonly header: string | undefined;
  /** Violations are only reported. */
  readonly reportOnly: string | undefined;
  readonly metas: readonly string[];
  readonly required: readonly RequiredSource[];
}

/** Checks that the page's policies let the widget load and call this site. Names what to add to each policy that does not. */
export function checkPolicies({ page, header, reportOnly, metas, required }: PolicyFacts): Finding[] {
  const enforced = [
    ...readPolicies(header ?? '').map((policy) => ({ policy, where: 'the header Content-Security-Policy' })),
    ...metas.flatMap(readPolicies).map((policy) => ({ policy, where: 'the meta tag Content-Security-Policy' })),
  ];
  const failures = enforced.flatMap(({ policy, where }) => findPolicyFailure(policy, { where, required, page }));
  if (failures.length > 0) return failures;
  const reported = readPolicies(reportOnly ?? '').flatMap((policy) =>
    findPolicyFailure(policy, { where: 'the header Content-Security-Policy-Report-Only', required, page }),
  );
  if (reported.length > 0)
    return reported.map((finding) => ({
      ...finding,
      verdict: 'warning',
      text: `Not enforced yet, but it would block the chat: ${finding.text}`,
    }));
  if (enforced.length === 0)
    return [{ id: 'csp', title, verdict: 'passed', text: 'The page has no policy, so nothing blocks the widget.' }];
  return [
    {
      id: 'csp',
      title,
      verdict: 'passed',
      text:
        'The policy lets the widget load its script and call this site. ' +
        'The widget needs no frames, no inline scripts and no inline styles.',
    },
  ];
}

function findPolicyFailure(
  policy: Policy,
  {
    where,
    required,
    page,
  }: { readonly where: string; readonly required: readonly RequiredSource[]; readonly page: URL },
): Finding[] {
  const blocked = required.filter((each) => findBlockingDirective(policy, each, page) !== null);
  if (blocked.length === 0) return [];
  const isStrict = blocked.some(
    (each) =>
      each.directive === 'script-src' &&
      extendDirective(policy, each)
        .split(' ')
        .every((source) => source !== each.url.origin),
  );
  const lines = [...new Set(blocked.map((each) => extendDirective(policy, each)))];
  const sources = blocked.map(({ directive, url }) => `${url.origin} to ${directive}`);
  const nonce = isStrict
    ? " Its script-src has 'strict-dynamic', which ignores URLs: give the script tag the page's nonce (nonce=\"…\")."
    : '';
  return [
    {
      id: 'csp',
      title,
      verdict: 'failed',
      text:
        `In ${where} add ${sources.join(', ')}.${nonce} ` +
        (lines.length === 1 ? 'The directive then reads:' : 'The directives then read:'),
      copy: { label: 'directives', value: `${lines.join('; ')};` },
    },
  ];
}
