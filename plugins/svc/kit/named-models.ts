import { isRecord } from '#plugin-api';
import { requireScopes, type Caller } from './caller.ts';

type Members = Readonly<Record<string, unknown>>;

/** Members that hold texts of people and schemas, and choose no model. */
const texts: readonly string[] = [
  ...['messages', 'system', 'input', 'instructions', 'metadata'],
  ...['input_schema', 'schema', 'input_examples'],
];

/**
 * A request that is sent as it came may name more models than its own: others that the vendor may take instead, and those that its
 * tools ask, such as an advisor. The key must allow them too (D31).
 *
 * @throws RestError 403 `rest_svc_key_out_of_scope`
 */
export function requireNamedModels(
  { model: _model, ...body }: Members,
  provider: string,
  caller: Caller | undefined,
): void {
  for (const model of modelsIn(body)) requireScopes(caller, { provider, model });
}

function modelsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(modelsIn);
  // The caller runs its functions, whose schemas may have a member of any name.
  if (!isRecord(value) || value['type'] === 'function') return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (texts.includes(name)) return [];
    if (!/models?$/i.test(name)) return modelsIn(member);
    const named: readonly unknown[] = Array.isArray(member) ? member : [member];
    return named.flatMap((one) => (typeof one === 'string' ? [one] : modelsIn(one)));
  });
}
