import { getStaticValue } from '@eslint-community/eslint-utils';
import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';

/**
 * What the rules of eslint-plugin-regexp do not see, though it may take the square of a text: an assertion that looks ahead or
 * behind over a repetition from every position, and an expression that is built while the program runs. A file may build
 * expressions if it is listed with what they are built from, which no visitor or user writes.
 */
export default {
  meta: {
    type: 'problem',
    schema: [{ type: 'object', additionalProperties: { type: 'string' } }],
    messages: {
      lookaround:
        'This looks over a repetition from every position, which takes the square of a text. Match the repetition, and look at what was found.',
      built:
        'An expression of foreign text may take any time. Use a fixed one, or list the file with what it is built from.',
    },
  },
  create(context) {
    const path = context.filename.slice(context.cwd.length + 1).replaceAll('\\', '/');
    const isListed = Object.hasOwn(context.options[0] ?? {}, path);
    const check = (node, source, flags) => {
      if (repeatsInLookaround(source, flags)) context.report({ node, messageId: 'lookaround' });
    };
    const checkCall = (node) => {
      if (node.callee.name !== 'RegExp') return;
      const values = node.arguments.map((argument) => getStaticValue(argument, context.sourceCode.getScope(node)));
      const [source, flags] = values;
      if (source && (values.length < 2 || flags)) {
        const { source: text, flags: own } = new RegExp(source.value, flags?.value);
        check(node, text, own);
      } else if (!isListed) context.report({ node, messageId: 'built' });
    };
    return {
      'Literal[regex]': (node) => check(node, node.regex.pattern, node.regex.flags),
      NewExpression: checkCall,
      CallExpression: checkCall,
    };
  },
};

/** Expressions that begin at the start of the text look from there alone. */
function repeatsInLookaround(source, flags) {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const isAnchored = pattern.alternatives.every(({ elements: [first] }) => first?.kind === 'start');
  if (flags.includes('y') || (isAnchored && !flags.includes('m'))) return false;
  let depth = 0;
  let found = false;
  const isLookaround = ({ kind }) => kind === 'lookahead' || kind === 'lookbehind';
  visitRegExpAST(pattern, {
    onAssertionEnter: (node) => void (depth += isLookaround(node) ? 1 : 0),
    onAssertionLeave: (node) => void (depth -= isLookaround(node) ? 1 : 0),
    onQuantifierEnter: ({ max }) => void (found ||= depth > 0 && max === Infinity),
  });
  return found;
}
