import { Parser } from 'htmlparser2';

/** Their content is code, or data of the site. */
const codeElements = new Set(['code', 'pre', 'kbd', 'samp', 'script', 'style', 'textarea']);
const attributes = ['title', 'aria-label', 'aria-description', 'placeholder', 'alt', 'data-confirm', 'data-busy'];

/**
 * The texts of a page in the pseudo-language that have bypassed translation: those without its brackets. Code, data
 * (`translate="no"`) and texts in a language that is named (`lang`) are left out.
 */
export function englishTexts(html: string): string[] {
  const texts = new Set<string>();
  // A sentence may span elements, but not attributes.
  let depth = 0;
  const note = (text: string, start: number): number => {
    const { rest, end } = outsideBrackets(text, start);
    if (isEnglish(rest)) texts.add(rest.replace(/\s+/g, ' ').trim());
    return end;
  };
  const hidden: boolean[] = [];
  const parser = new Parser({
    onopentag(name, given) {
      const isCode = codeElements.has(name);
      const isHidden =
        hidden.at(-1) === true ||
        isCode ||
        given['translate'] === 'no' ||
        (name !== 'html' && given['lang'] !== undefined);
      if (given['name']?.startsWith('_question') === true) note(questionOf(given), 0);
      if (!isHidden || isCode) for (const attribute of attributes) note(given[attribute] ?? '', 0);
      hidden.push(isHidden);
    },
    ontext(text) {
      if (hidden.at(-1) !== true) depth = note(text, depth);
    },
    onclosetag() {
      hidden.pop();
    },
  });
  parser.write(html);
  parser.end();
  return [...texts];
}

/** A word of letters alone: names such as `gpt-4o`, addresses and paths are data. */
const months = /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*/g;

function isEnglish(text: string): boolean {
  return text
    .replace(months, '')
    .split(/[\s,;()·"'’“”]+/)
    .some((word) => /^[A-Za-z]{2,}[.:!?]?$/.test(word) && word !== word.toUpperCase());
}

/** What a form asks before it is sent. */
function questionOf({ name, value = '' }: Readonly<Record<string, string>>): string {
  return name === '_question_safe' || name === '_question_label' ? '' : value;
}

function outsideBrackets(text: string, start: number): { readonly rest: string; readonly end: number } {
  let depth = start;
  let rest = '';
  for (const letter of text) {
    if (letter === '⟦') depth += 1;
    else if (letter === '⟧') depth -= 1;
    else if (depth === 0) rest += letter;
  }
  return { rest, end: depth };
}
