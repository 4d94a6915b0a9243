// The texts of scripts in the language of the page, which has their translations (helper `scriptTexts`).
const blocks = [...document.querySelectorAll('script[data-texts]')];
const translations = Object.assign({}, ...blocks.map(({ textContent }) => JSON.parse(textContent)));

/** The text with its values, `{name}`. One without translation stays as it is. */
globalThis.__ = (text, values = {}) =>
  (translations[text] ?? text).replace(/\{(\w+)\}/g, (placeholder, name) => String(values[name] ?? placeholder));
