import type { Language } from '#plugin-api';

/** English with accents in brackets, made by rule: an English text without them has bypassed translation. */
export const pseudoLocale = 'en_XA';

const accents: Readonly<Record<string, string>> = Object.fromEntries(
  [...'AÀaàCÇcçEÈeèIÌiìNÑnñOÒoòUÙuùYÝyý'].flatMap((letter, index, all) =>
    index % 2 === 0 ? [[letter, all[index + 1] ?? letter]] : [],
  ),
);

/** Leaves values (`{name}`), marks of elements (`<1>`) and values in brackets unchanged, and a text that has brackets around it. */
function accent(text: string): string {
  if (/^⟦.*⟧$/s.test(text) || !/\p{L}/u.test(text)) return text;
  const accented = text.replace(/\{\w+\}|<[^<>]*>|⟦[^⟦⟧]*⟧|[A-Za-z]/g, (part) => accents[part] ?? part);
  return `⟦${accented}⟧`;
}

export const pseudoLanguage: Language = {
  tag: 'en-XA',
  direction: 'ltr',
  find: accent,
  // English has two forms; the caller knows only the singular, which shows as well that the text is translated.
  findPlural: (one) => accent(one),
  translate: accent,
};
