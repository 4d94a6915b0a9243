/** HTML that is not escaped: Handlebars calls `toHTML` before escaping. */
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

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtml(text: unknown): string {
  return String(text ?? '').replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
