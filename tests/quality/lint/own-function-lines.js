/**
 * Limits the lines that a function holds itself. Lines of functions inside it count for those: a factory that returns ten
 * short methods is ten short functions. Blank lines and comments do not count.
 */
const functions = 'FunctionDeclaration, FunctionExpression, ArrowFunctionExpression';

export default {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { max: { type: 'integer', minimum: 1 } }, required: ['max'] }],
    messages: {
      tooLong: 'This function holds {{count}} lines of its own; at most {{max}} are allowed. Extract a part of it.',
    },
  },
  create(context) {
    const { max } = context.options[0];
    const source = context.sourceCode;
    const code = codeLines(source);
    const open = [];
    return {
      [functions]: () => open.push(new Set()),
      [`:matches(${functions}):exit`](node) {
        const nested = open.pop();
        const count = linesOf(node).filter((line) => code.has(line) && !nested.has(line)).length;
        if (count > max) context.report({ node, messageId: 'tooLong', data: { count, max } });
        for (const line of linesOf(node)) open.at(-1)?.add(line);
      },
    };
  },
};

/** The numbers of the lines that hold more than white space and comments. */
function codeLines(source) {
  const lines = new Set();
  for (const token of source.ast.tokens) {
    for (let line = token.loc.start.line; line <= token.loc.end.line; line++) lines.add(line);
  }
  return lines;
}

/** A function's lines, without its first and last: these hold its head and its closing brace. */
function linesOf(node) {
  const first = node.loc.start.line;
  return Array.from({ length: Math.max(0, node.loc.end.line - first - 1) }, (_, index) => first + 1 + index);
}
