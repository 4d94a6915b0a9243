import { isDeepStrictEqual } from 'node:util';
import { asRecord, isRecord } from '#plugin-api';
import type { TextFormat } from '../kit/reasoning.ts';
import { visitSent } from '../kit/sent-members.ts';
import type { TextRequest } from '../providers/provider.ts';
import type { Capable } from './capable-provider.ts';
import { memberPrices } from './billed-members.ts';

/**
 * The path of a member that costs more than its tokens, and whose price is not known here (D55): one that has a price, one that
 * is not known at all, or a tool that the vendor runs. Undefined: there is none.
 */
export function unpricedParam(
  { native }: Pick<TextRequest, 'native'>,
  { text }: Pick<Capable<'text'>, 'text'>,
): string | undefined {
  if (native === undefined || text.reportsCost === true) return undefined;
  const { body, format } = native;
  const { tokens, priced } = memberPrices[format];
  const isFree = (name: string, value: unknown): boolean =>
    tokens.includes(name) ||
    (Object.hasOwn(priced, name) && priced[name]?.some((free) => isDeepStrictEqual(free, value)) === true);
  const member = Object.entries(body).find(([name, value]) => (value ?? null) !== null && !isFree(name, value));
  return member?.[0] ?? vendorTool(body, format);
}

/** The path of the first tool that its caller does not run, in lists of tools at any depth. */
function vendorTool(body: Readonly<Record<string, unknown>>, format: TextFormat): string | undefined {
  let found: string | undefined;
  visitSent(body, format, ({ name, value, path }) => {
    if (found !== undefined || name !== 'tools' || !Array.isArray(value)) return;
    const index = value.findIndex((tool) => !isOwnTool(tool, format));
    if (index >= 0) found = `${path}[${String(index)}]`;
  });
  return found;
}

function isOwnTool(tool: unknown, format: TextFormat): boolean {
  const { type, environment, execution } = asRecord(tool);
  if (!isRecord(tool)) return false;
  if (format === 'messages' && (type ?? null) === null) return true;
  if (format === 'responses' && type === 'shell') return asRecord(environment)['type'] === 'local';
  if (format === 'responses' && type === 'tool_search') return execution === 'client';
  return typeof type === 'string' && memberPrices[format].ownTools.test(type);
}
