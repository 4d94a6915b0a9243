import type { PartName } from '../templates/template.ts';

/** What one text is to be about. */
export interface ContentInput {
  readonly topic: string;
  readonly keywords: string;
  readonly instructions: string;
  /** Text of a page or feed entry. */
  readonly source: string;
  readonly source_url: string;
  /** An administrator typed the address: it may be inside this network (D23). */
  readonly is_typed?: boolean;
  /** The row of a CSV it was made of, so that its columns can be taken for something else. */
  readonly row?: Readonly<Record<string, string>>;
}

/** A featured image: kept in the media library, or its data, which are kept only when the post is made. */
export interface DraftImage {
  readonly media_id: number | null;
  readonly url: string | null;
  readonly b64_json: string | null;
  readonly alt: string;
}

/** Parts written so far, and what they took. Members that were not written are left out. */
export interface ContentDraft {
  readonly title?: string;
  /** Markdown. */
  readonly content?: string;
  readonly excerpt?: string;
  readonly meta_description?: string;
  readonly focus_keyword?: string;
  readonly tags?: readonly string[];
  readonly image?: DraftImage;
  /** Display name and model that wrote the text, or the first part where there is no text. */
  readonly ai: { readonly provider: string; readonly model: string } | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Millionths of a US dollar of the calls whose price is known. */
  readonly cost: number;
  /** Calls whose price is not known. */
  readonly unpriced: number;
}

export const emptyDraft: ContentDraft = { ai: null, input_tokens: 0, output_tokens: 0, cost: 0, unpriced: 0 };

export const emptyInput: ContentInput = { topic: '', keywords: '', instructions: '', source: '', source_url: '' };

/** The cost, or null where a call's price is not known. */
export function costOfDraft({ cost, unpriced }: Pick<ContentDraft, 'cost' | 'unpriced'>): number | null {
  return unpriced > 0 ? null : cost;
}

export function isWritten(draft: ContentDraft, part: PartName): boolean {
  return draft[part] !== undefined;
}
