/** Markup that is printed as it is. Handlebars asks any value for `toHTML` before it escapes. */
export class SafeHtml {
  readonly #html: string;

  constructor(html: string) {
    this.#html = html;
  }

  toHTML(): string {
    return this.#html;
  }

  toString(): string {
    return this.#html;
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For the few helpers that build markup themselves; safe in text and in quoted attributes. */
export function escapeHtml(text: unknown): string {
  return String(text ?? '').replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
