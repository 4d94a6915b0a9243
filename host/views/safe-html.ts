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
