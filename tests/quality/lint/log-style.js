/**
 * Log messages begin with a capital letter and end without a full stop; their fields name an `event` code that can be alerted on,
 * and a request is always `request_id`.
 */
const levels = new Set(['debug', 'info', 'warn', 'error']);

export default {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      message: 'A log message begins with a capital letter and has no full stop.',
      event: "Name an event code in the fields: log.{{level}}('...', { event: 'delivery_failed' }).",
      request: 'The id of a request is logged as request_id.',
    },
  },
  create(context) {
    return {
      CallExpression(node) {
        const level = logLevel(node.callee);
        if (level === undefined) return;
        const [message, fields] = node.arguments;
        const text = textOf(message);
        if (text !== undefined && !/^[A-Z][^]*[^.]$/.test(text))
          context.report({ node: message, messageId: 'message' });
        const names = fieldNames(fields);
        if (names === undefined) return;
        if (!names.includes('event')) context.report({ node, messageId: 'event', data: { level } });
        if (names.some((name) => name === 'requestId' || name === 'request'))
          context.report({ node: fields, messageId: 'request' });
      },
    };
  },
};

/** `log.warn`, `host.log.warn`, `this.log.warn`: the level, for calls of a logger. */
function logLevel(callee) {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  const object = callee.object.type === 'MemberExpression' ? callee.object.property : callee.object;
  return object.name === 'log' && levels.has(callee.property.name) ? callee.property.name : undefined;
}

function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return undefined;
  return node.quasis.map(({ value }) => value.cooked).join('X');
}

/** Names of an object literal's properties; undefined for fields that come from elsewhere. */
function fieldNames(node) {
  if (node === undefined) return [];
  if (node.type !== 'ObjectExpression') return undefined;
  if (
    node.properties.some(({ type }) => type === 'SpreadElement') &&
    !node.properties.some(({ key }) => key?.name === 'event')
  )
    return undefined;
  return node.properties.flatMap(({ key }) => (key ? [key.name ?? key.value] : []));
}
