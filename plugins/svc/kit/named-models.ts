import type { TextFormat } from './reasoning.ts';
import { visitSent, type SentMember } from './sent-members.ts';

interface NamedModel {
  readonly model: string;
  /** Of the member that names it. */
  readonly path: string;
}

/**
 * Models that a request in the format of a vendor names besides its own: others that the vendor may take instead, and those that
 * its tools and plugins ask.
 */
export function namedModels(body: Readonly<Record<string, unknown>>, format: TextFormat): NamedModel[] {
  const found: NamedModel[] = [];
  visitSent(body, format, (member) => {
    if (member.path !== 'model' && /model|deployment|^fallbacks?$/i.test(member.name)) found.push(...modelsOf(member));
  });
  return found;
}

function modelsOf({ value, path }: SentMember): NamedModel[] {
  const listed: unknown[] = Array.isArray(value) ? value.flat(Infinity) : [value];
  return listed.filter((one) => typeof one === 'string').map((model) => ({ model, path }));
}
