/**
 * Words that this project does not use, and what it says instead. `plugins/svc/GLOSSARY.md` explains the terms.
 *
 * `name` matches a whole identifier split into lower-case words ("farEndAnswer" is "far end answer"), `text` matches sentences:
 * comments, strings, templates and documents. An entry without one of them is not checked there.
 */
export const bannedWords = [
  { say: 'upstream, provider or endpoint', name: /\bfar ends?\b/, text: /\bfar ends?\b/i },
  { say: 'assistant', name: /\banswerers?\b/, text: /\banswerers?\b/i },
  { say: 'request or job', name: /\bwish(es)?\b/, text: /\bwish(es)?\b/i },
  {
    say: 'history, notify, notification or event',
    name: /\b(told|tell|tells|heard|news)\b/,
    text: /\b(told|tells?|heard)\b/i,
    except: /^plugins\/sandbox\/embeddings\//,
  },
  { say: 'in-flight', name: /\bhands\b/, text: /\b(hands|handed)\b/i },
  { say: 'claimer or lease renewer', name: /\b(taker|keeper)\b/, text: /\b(takers?|keepers?)\b/i },
  {
    say: 'release, forget or postpone',
    name: /\b(give back|gave back|let go|put off)\b/,
    text: /\b(gives? back|gave back|puts? off)\b/i,
  },
  { say: 'heartbeat', name: /\b(beat|beats|beaten)\b/, text: /\b(beats?|beaten)\b/i },
  { say: 'retry until or timeout', name: /\b(patience|patiently)\b/, text: /\b(patience|patiently)\b/i },
  {
    say: 'quarantine; "fencing token" for leases',
    name: /\bfence[sd]?\b/,
    text: /\b(fenced off|fences? (off )?(a|the) plugin)\b/i,
  },
  { say: 'budget guard', name: /\bfuses?\b/, text: /\bfuses?\b/i },
  {
    say: 'errors',
    name: /\bfaults?\b/,
    text: /(?<!npm run |tests\/|svcf-)\bfaults?\b(?! injection)/i,
    except: /^(plugins\/sandbox|views\/sandbox|tests\/faults)\//,
  },
  { say: 'labels or messages', name: /\b(spent|field|state|status|error) words\b/ },
  { say: 'stored, persisted or ephemeral', name: /(?<!\bnot )\b(kept|unkept)\b/, text: /\bunkept\b/i },
  { say: 'index, position, path or slot', name: /\bplaces?\b/ },
  {
    say: 'repair or recover',
    name: /\b(mend|mends|mended|mendable|heal|heals|healed)\b/,
    text: /\b(mend(s|ed|ing|able)?|heal(s|ed|ing)?)\b/i,
  },
  {
    say: 'theme, appearance or environment',
    name: /\b(dress|looks|surroundings)\b/,
    text: /\b(surroundings|dressed)\b/i,
  },
  { say: 'fake or generated locally', name: /\bstand in\b/, text: /\b(stand-ins?|made up|makes? up)\b/i },
  {
    say: 'a sentence that names who',
    name: /\b(whoever|nobody|somebody)\b/,
    text: /\b(whoever|nobody|somebody)\b/i,
    except: /^plugins\/hello\//,
  },
  {
    say: 'again',
    name: /\banew\b/,
    text: /\banew\b/i,
    except: /^plugins\/svc\/modules\/knowledge-base\/(README\.md|knowledge-commands\.ts)$/,
  },
  {
    say: 'a verb that says what happens',
    text: /\b(stands|goes for good|of its own)\b|\bis there\b(?! (a|an|any|no)\b)/i,
  },
  { say: '"Leave empty to ..." or "one per line"', text: /(^|[\s"'>])(Empty:|Left empty)|\bone a line\b/ },
  { say: 'delivery log', name: /\bflight recorder\b|\brecorder\b/, text: /\bflight recorder\b/i },
];

/** "farEndAnswer", "far_end-answer" and "FAR_END" as "far end answer" and "far end". */
export function wordsOf(identifier) {
  return identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[_$\-.\s]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** By identifier. The same few thousand names are checked a hundred thousand times. */
const brokenByName = new Map();

/** The entries that an identifier or a file name breaks. */
export function inName(identifier, path = '') {
  let entries = brokenByName.get(identifier);
  if (entries === undefined) {
    const words = wordsOf(identifier);
    entries = bannedWords.filter(({ name }) => name?.test(words));
    brokenByName.set(identifier, entries);
  }
  return entries.filter((entry) => isChecked(entry, path));
}

/** The entries that a text breaks, each with the words it found. */
export const inText = (text, path = '') =>
  bannedWords.flatMap((entry) => {
    const found = isChecked(entry, path) ? entry.text?.exec(text) : null;
    return found ? [{ ...entry, found: found[0].trim() }] : [];
  });

const isChecked = ({ except }, path) => !except?.test(path);

/** ESLint: refuses banned words in declared names, comments and strings. */
export default {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { texts: { type: 'boolean' } } }],
    messages: {
      name: '"{{found}}" is not a word of this project: say {{say}}.',
      text: '"{{found}}" in a text: say {{say}}.',
    },
  },
  create(context) {
    const source = context.sourceCode;
    const path = context.filename.slice(context.cwd.length + 1).replaceAll('\\', '/');
    const reported = new Set();
    const reportName = (node) => {
      if (reported.has(node.name)) return;
      for (const { say } of inName(node.name, path)) {
        reported.add(node.name);
        context.report({ node, messageId: 'name', data: { found: node.name, say } });
      }
    };
    const reportText = (loc, text) => {
      for (const { say, found } of inText(text, path)) context.report({ loc, messageId: 'text', data: { found, say } });
    };
    const texts = context.options[0]?.texts !== false;
    return {
      Identifier: reportName,
      PrivateIdentifier: reportName,
      ...(texts && {
        Literal: (node) => typeof node.value === 'string' && isSentence(node) && reportText(node.loc, node.value),
        TemplateElement: (node) => reportText(node.loc, node.value.cooked ?? node.value.raw),
        Program: () => source.getAllComments().forEach((comment) => reportText(comment.loc, comment.value)),
      }),
    };
  },
};

/** Paths of imports are checked as file names. */
const isSentence = (node) => !/^(Import|Export)/.test(node.parent.type) && node.parent.type !== 'ImportExpression';
