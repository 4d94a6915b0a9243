import type { PartName } from '../templates/template.ts';

/** The input of one text. */
export interface ContentInput {
  readonly topic: string;
  readonly keywords: string;
  readonly instructions: string;
  /** Text of the page or feed entry. */
  readonly source: string;
  readonly source_url: string;
  /** Category of the post. Without one, that of the batch or task. */
  readonly category?: string;
  /** An administrator typed the URL: it may be in this network (D23). */
  readonly is_typed?: boolean;
  /** The CSV row, so that its columns can be mapped again. */
  readonly row?: Readonly<Record<string, string>>;
}

/** A featured image: in the media library, or as data that is stored with the post. */
export interface DraftImage {
  readonly media_id: number | null;
  readonly url: string | null;
  readonly b64_json: string | null;
  readonly alt: string;
  /** How it was generated, for its event. Missing in drafts of earlier versions, which send none. */
  readonly generated?: GeneratedWith;
}

export interface GeneratedWith {
  readonly prompt: string;
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
  readonly revised_prompt: string | null;
  /** Usage data of the provider, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
}

/** The sections written so far, and their usage. Sections that were not written are missing. */
export interface ContentDraft {
  readonly title?: string;
  /** Markdown. */
  readonly content?: string;
  readonly excerpt?: string;
  readonly meta_description?: string;
  readonly focus_keyword?: string;
  readonly tags?: readonly string[];
  readonly image?: DraftImage;
  /** Provider name and model of the text, or of the first section if there is no text. */
  readonly ai: { readonly provider: string; readonly model: string } | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Cost of the calls with a known price, in millionths of a US dollar. */
  readonly cost: number;
  /** Calls with an unknown price. */
  readonly unpriced: number;
}

export const emptyDraft: ContentDraft = { ai: null, input_tokens: 0, output_tokens: 0, cost: 0, unpriced: 0 };

export const emptyInput: ContentInput = { topic: '', keywords: '', instructions: '', source: '', source_url: '' };

/** The cost; null if the price of a call is unknown. */
export function costOfDraft({ cost, unpriced }: Pick<ContentDraft, 'cost' | 'unpriced'>): number | null {
  return unpriced > 0 ? null : cost;
}

export function hasPart(draft: ContentDraft, part: PartName): boolean {
  return draft[part] !== undefined;
}
