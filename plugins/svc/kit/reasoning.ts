import { isRecord } from '#plugin-api';

/** A JSON object with unknown members. */
type JsonObject = Readonly<Record<string, unknown>>;

/** The format of an API for text: Chat Completions, Messages or Responses. */
export type TextFormat = 'chat' | 'messages' | 'responses';

/** A part of what a model thought before its answer, as its vendor returns it (D40). Never part of a text that visitors see. */
export interface Reasoning {
  /** What people may read. Empty if only the vendor can read it. */
  readonly text: string;
  /** The vendor's own item, which the next request must repeat unchanged. Left out: the vendor does not want it back. */
  readonly item?: JsonObject | undefined;
  /** Whose format `item` has. */
  readonly format?: TextFormat | undefined;
}

/** Marks what this service sealed, so that signatures of vendors are not taken for it. */
const seal = 'svc1.';

/**
 * Reasoning as one opaque text, for a member of another vendor's format that clients send back unchanged, such as a signature.
 *
 * @returns ASCII, four thirds of the item's length
 */
export function sealReasoning({ item, format }: Pick<Reasoning, 'item' | 'format'>): string {
  return item === undefined ? '' : seal + Buffer.from(JSON.stringify({ item, format })).toString('base64url');
}

/** Whether a text is what `sealReasoning` returns, which no vendor accepts as its own. */
export function isSealedReasoning(text: unknown): boolean {
  return text === '' || (typeof text === 'string' && text.startsWith(seal));
}

/** What `sealReasoning` sealed; null for any other text. */
export function openReasoning(sealed: unknown): Pick<Reasoning, 'item' | 'format'> | null {
  if (typeof sealed !== 'string' || !sealed.startsWith(seal)) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(sealed.slice(seal.length), 'base64url').toString());
    const { item, format } = isRecord(value) ? value : {};
    return isRecord(item) && isTextFormat(format) ? { item, format } : null;
  } catch {
    return null;
  }
}

function isTextFormat(value: unknown): value is TextFormat {
  return value === 'chat' || value === 'messages' || value === 'responses';
}
