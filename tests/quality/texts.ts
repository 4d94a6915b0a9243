import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import ts from 'typescript';
import { textsIn } from '../../host/http/script-texts.ts';
import { hasLetters, translateTemplate } from '../../host/views/translate-template.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Texts of the program, as catalogs have them, with the plural where it is one of two. */
export type Texts = ReadonlyMap<string, { readonly file: string; readonly many?: string }>;

function filesOf(...patterns: readonly string[]): string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .filter(Boolean);
}

/** What pages make of names of parameters, values and roles. */
const derived: Readonly<Record<string, readonly string[]>> = {
  host: [
    'Administrator',
    'Editor',
    'Author',
    'Contributor',
    'Subscriber',
    // Of time zones.
    ...['Africa', 'America', 'Antarctica', 'Arctic', 'Asia', 'Atlantic', 'Australia', 'Europe', 'Indian', 'Pacific'],
    'Enter one per line.',
    'Add',
    ...['Usage:', 'Arguments:', 'Options:', 'Commands:', 'display help for command', 'Error', 'Commands of “{1}”'],
    ...['[options]', '[command]', '<value>', '(Did you mean {1}?)', '(Did you mean one of {1}?)', 'None.'],
    ...["missing required argument '{1}'", "unknown option '{1}'", "unknown command '{1}'"],
    ...["option '{1}' argument missing", "too many arguments for '{1}'. Expected {2} arguments but got {3}."],
    ...["too many arguments for '{1}'. Expected {2} argument but got {3}.", 'Print JSON.'],
    ...['not required', 'without signing in', 'a key in the Authorization header (Bearer)', 'path', 'query', 'header'],
    ...['user name and application password (Basic)', 'the cookie {1}', 'the header {1}', 'the query parameter {1}'],
    'the cookie {1} and the header {2}',
    'Maximum number of items to be returned in result set.',
    ...['Administrator', 'Editor', 'Author', 'Contributor', 'Subscriber'].map((role) => `Change role to ${role}`),
    ...[
      'ascending',
      'descending',
      'filter',
      'action',
      'Read-only',
      'Not over REST and MCP',
      'Headers for caches: {1}.',
    ],
    ...['Search posts', 'Search pages', 'Admin action', '{1} bytes', 'SECRET UNREADABLE', '{1} SECRETS UNREADABLE'],
    ...['Signed in', 'Sign in failed', 'Signed out', 'Two factor failed', 'Two factor enabled', 'Two factor disabled'],
    ...['Passkey added', 'Passkey removed', 'Recovery code used', 'User created', 'User changed', 'User deleted'],
    ...['Role changed', 'Plugin activated', 'Plugin deactivated', 'Secret changed'],
    // Of the facts in the security log.
    ...['Login', 'User', 'Method', 'Left', 'Role', 'Before', 'Plugin', 'Option'],
    ...['a whole number', 'a number', 'a JSON object', 'a JSON array'],
    '{1}, active',
    '{1}, inactive',
    'Search: {1}',
    // Checks of the command doctor and their results.
    ...['environment', "read; 'config' shows it"],
    ...['data folder', 'file modes', 'database', 'migrations', 'secrets', 'mail', 'uploads', 'security log'],
    ...['administrator', 'plugins', 'plugin health', 'ok', 'failed', 'private', 'all applied', 'readable', 'complete'],
    ...['present', 'good', 'key file in DATA_DIR', 'none seen', 'TRUST_PROXY is set'],
    // Of the commands for authors.
    ...['Error: {1}', 'warning', 'error', 'passed', 'left out', 'option', 'setting', 'metric', 'cron event', 'table'],
    ...["The table '{1}' is left.", "The option '{1}' is left.", "The cron event '{1}' is left."],
    'Delete it in the function uninstall.',
    ...['category', 'categories', 'tag', 'tags', 'API key (Bearer)'],
    // Of definitions that plugins register.
    ...['an array', 'an object', 'a function', 'a JSON Schema', 'an object of JSON Schemas', 'an object of functions'],
    // Of manifests.
    ...['"{1}" is missing; it must be {2}.', '"{1}" must be {2}.', 'a non-empty text', 'a text', 'true or false'],
    ...['a semantic version (1.0.0)', 'a range of host versions (^1)'],
    'lowercase letters, digits and hyphens (my-plugin)',
    'the path of the entry module inside the folder (index.js)',
    'an object of slugs and version ranges ({"svc": "^1"})',
    'a public ed25519 key, 32 bytes in base64, as `plugin pack --key` prints it',
    ...['session with nonce', 'application password', 'public'],
    ...['There are no headers for caches.', 'Lists the hooks that ran or have callbacks, with owners and counts.'],
  ],
  sandbox: [
    '429: rate limited, with Retry-After',
    '500: the provider failed',
    'Slow: responds after the delay; a stream stalls in the middle',
  ],
  svc: [
    ...['Max completion tokens', 'Top p', 'Frequency penalty', 'Presence penalty', 'Top k', 'Temperature'],
    '.txt, .md or .pdf, at most {size} MB',
    ...[
      'of {1}',
      '{1} role',
      'messages',
      'tokens',
      'Variable {1}',
      'Field {1}',
      'WEBHOOK PAUSED',
      '{1} WEBHOOKS PAUSED',
      'WEBHOOK HELD',
      '{1} WEBHOOKS HELD',
    ],
    // Of rules: operators, conditions and actions.
    ...['contains', 'does not contain', 'is', 'is not', 'starts with', 'ends with', 'matches the pattern'],
    ...['is greater than', 'is less than', 'is empty', 'is not empty', 'Hour', 'Weekday', 'A variable …'],
    ...['{1} contains {2}', '{1} does not contain {2}', '{1} is {2}', '{1} is not {2}', '{1} starts with {2}'],
    ...['{1} ends with {2}', '{1} matches the pattern {2}', '{1} is greater than {2}', '{1} is less than {2}'],
    ...['{1} is empty', '{1} is not empty', 'A field of the form …', '{1} or {2} more'],
    ...['reply: {1}', 'add context: {1}', 'refuse: {1}', 'show the form {1}', 'set {1} = {2}', 'add note {1}: {2}'],
    'call {1}',
    ...['(copy)', 'amount', 'responses', 'unit', 'period', 'Temperature (0 to 2)', 'Top p (0 to 1)'],
    ...['Frequency penalty (-2 to 2)', 'Presence penalty (-2 to 2)'],
    // Filters of lists, and what indexing a source changed.
    ...['Text: {1}', 'User: {1}', 'Chatbot: {1}', 'From: {1}', 'To: {1}', 'Feedback: {1}', 'Who: {1}'],
    ...['{1}: all new.', '{1}: {2} new, {3} unchanged.', '{1}: all new, {2} deleted.'],
    '{1}: {2} new, {3} unchanged, {4} deleted.',
    ...['{1}: {2} delivered', '{1}: {2} delivered, {3} failed'],
    ...['from {1} input tokens', 'from {1}', 'until {1}', 'from {1} until {2}', '{1}, {2} failed'],
    ...['this month', 'today'],
    ...['estimated', 'none failed', '{1} failed ({2}%)', 'without {1}', 'including retries', '{1} in, {2} out'],
    ...[
      'cache write {1}',
      'cache write 1h {1}',
      'image input {1}',
      'audio input {1}',
      'reasoning {1}',
      'image output {1}',
    ],
    ...['audio output {1}', 'Euclidean', 'Dotproduct', 'Knowledge Base', 'Write content'],
    '1 to 255 characters, none of < > : " / \\ | ? *.',
    'Page of a visitor’s request, for browsers without JavaScript.',
    'File of an image, for the browser that requested it.',
    'The script of the {1} of chatbots.',
    'The styles of the {1} of chatbots.',
    ...['not embedded', 'on any site', 'on this site'],
    '3 to 512 letters, digits, dots, dashes and underscores, with a letter or digit at both ends.',
    '1 to 45 lower-case letters, digits and dashes, with no dash at either end.',
    'chatbot for conversations in the widget, rest_api for those stored by POST /chat/{bot_id}/message.',
    'sha256=<hex> of timestamp, period and body; only when a signing secret is set.',
    'sha256; only when a signing secret is set.',
    'Generate a video, which takes minutes, add it to the media library and print it.',
    'List the requested videos, newest first.',
    ...['Standard', 'High', 'Minimal', 'Low', 'Medium', 'Video second', 'Article', 'Root'],
    ...['Models that the key may use; * matches any characters.', 'May delete or overwrite', 'cached input {1}'],
    ...[
      'calls are refused',
      'all calls',
      'calls of the REST API',
      'all users with the role {1} together',
      ...['chatbot “{1}”', 'key “{1}”', 'user “{1}”', 'plugin “{1}”'],
      ...['chatbot {1} (deleted)', 'key {1} (deleted)', 'user {1} (deleted)', 'revoked'],
      'text falls back to {1}, other calls are refused',
      'per day',
      'per month',
      'per week',
      'Calls per day',
      'Cost per day',
      'Tokens per day',
      'on {1}',
      'on {1} sites',
      'ends in {1}',
    ],
    ...['1 to 45 lower-case letters, digits and dashes, with no dash at either end', 'Up to four stop sequences.'],
    ...['Attempt {1} of {2} failed: {3}', 'The budget “{1}” is used up for {2}.', 'It resets on {1}.'],
  ],
};

/** Counts whose nouns are names of units, taxonomies, kinds of personal data and results of checks. */
const derivedCounts: Readonly<Record<string, readonly (readonly [one: string, many: string])[]>> = {
  host: [
    ...['day', 'hour', 'minute', 'second', 'tag'].map((unit) => [unit, `${unit}s`] as const),
    ['category', 'categories'],
    ['active', 'active'],
    ['entries, unchanged', 'entries, unchanged'],
  ],
  svc: [
    ...[
      'submission',
      'image',
      'image request',
      'unanswered question',
      'webhook event',
      'form answer',
      'content text',
      'other',
    ].map((noun) => [noun, `${noun}s`] as const),
    ['cancelled delivery', 'cancelled deliveries'],
  ],
};

/** @param slug `host`, or of a plugin. */
export function textsOf(slug: string): Texts {
  const texts = new Map<string, { file: string; many?: string }>();
  const note = (text: string, file: string, many?: string): void => {
    if (!texts.has(text)) texts.set(text, { file, ...(many !== undefined && { many }) });
  };
  for (const file of slug === 'host'
    ? filesOf('views/admin', 'views/site', 'views/mail')
    : filesOf(`views/${slug}`, `plugins/${slug}/views`))
    if (file.endsWith('.hbs')) readTemplate(file, note);
  for (const text of derived[slug] ?? []) note(text, slug);
  for (const [one, many] of derivedCounts[slug] ?? []) note(`{count} ${one}`, slug, `{count} ${many}`);
  if (slug !== 'host') readManifest(`plugins/${slug}/plugin.json`, note);
  for (const file of filesOf(slug === 'host' ? 'host/*.ts' : `plugins/${slug}/*.ts`))
    if (isPage(file) || endsInTerminal.test(file)) readCode(file, note);
  for (const file of filesOf(...scriptsOf(slug)))
    for (const text of textsIn(readFileSync(`${root}/${file}`, 'utf8'))) note(text, file);
  return texts;
}

/** Scripts for browsers, which call `__`. */
function scriptsOf(slug: string): string[] {
  return slug === 'host' ? ['host/*/assets/*.js', 'host/*/browser/*.ts'] : [`plugins/${slug}/*.js`];
}

function readManifest(file: string, note: Note): void {
  const { description } = JSON.parse(readFileSync(`${root}/${file}`, 'utf8')) as { readonly description?: string };
  if (description !== undefined) note(description, file);
}

type Note = (text: string, file: string, many?: string) => void;

function readTemplate(file: string, note: Note): void {
  const program = Handlebars.parse(readFileSync(`${root}/${file}`, 'utf8'));
  noteGiven(program, (text) => note(text, file));
  notePlurals(program, (one, many) => note(`{count} ${one}`, file, `{count} ${many}`));
  translateTemplate(program, (text) => {
    note(text, file);
    return undefined;
  });
}

/** Texts that are given to the helper `__`. */
function noteGiven(node: unknown, note: (text: string) => void): void {
  if (typeof node !== 'object' || node === null) return;
  const { path, params } = node as { path?: { original?: string }; params?: { type: string; value?: unknown }[] };
  if (path?.original === '__' && params?.[0]?.type === 'StringLiteral') note(String(params[0].value));
  for (const child of Object.values(node)) noteGiven(child, note);
}

function notePlurals(node: unknown, note: (one: string, many: string) => void): void {
  if (typeof node !== 'object' || node === null) return;
  const { path, params } = node as { path?: { original?: string }; params?: { type: string; value?: unknown }[] };
  if (path?.original === 'plural' && params)
    note(String(params[1]?.value), String(params[2]?.value ?? `${String(params[1]?.value)}s`));
  for (const child of Object.values(node)) notePlurals(child, note);
}

/** What people never read on a page. */
const leftOut =
  /\.test\.|\/(testing|build|authoring|fakes|oracle|database|hooks(?!\/hooks-route)|loader(?!\/plugins-routes)|log|browser|storage|vectors|sandbox\/images)\/|\/migrations|host\/start|host\/plugin-api\/(mcp|openapi|client|argument|namespaced|mutex)|-fixture|(?<!user)-response\.ts|json-sample|write-reply|\/answer\.ts|languages\//;
/** Their errors end a command or a start, and the terminal shows them. */
const endsInTerminal =
  /^host\/cli\/(?!run\.ts)|-commands\.ts$|\/commands\/|^host\/(core|host|serve|recovery|start\/\w+)\.ts|^host\/(authoring|database|loader|secrets)\/|^host\/testing\/(conformance|outages|points\/)|^host\/http\/server|upload-bucket|command-records|users\/(roles|user-input)\.ts/;
/** Commands for authors print what they find in a plugin. */
const reports = /^host\/(authoring|testing)\//;
/** Contracts of REST and wire formats of providers, of which pages show names and summaries alone. */
const contracts =
  /\.route\.ts|-routes?\.ts|\/(rest(?!\/openapi\/page)|mcp|abilities|stores|embeddings|images-generate|openai|videos)\/|provider\.ts|store\.ts|\.event\.ts|\/events\.ts|posts-list|terms-routes/;
/** In them, schemas of settings have descriptions that forms show; those of arguments are for programs. */
const isHelpOfSetting = /(provider|store)\.ts$/;

function isPage(file: string): boolean {
  return !leftOut.test(file);
}

const textProperties = new Set(
  (
    'label title text help note hint message menu sentence confirm busy heading placeholder empty singularLabel advice ' +
    'reason detail error description summary good actions promptLabel legend caption what file password stateText changeText ' +
    'state outcome none here intro topic scope origin meaning question why'
  ).split(' '),
);
const contractProperties = new Set(['label', 'title', 'summary', 'help', 'hint', 'description']);
const leftOutCalls =
  /(^|\.)(error|warn|info|debug)$|^(Error|TypeError|RegExp|ManifestError|ConfigError)$|raw$|setHeader|append|startsWith|endsWith|includes|replace|split|join|test|exec|unreadable|Symbol|set|get|has|span$|off$|push$/;

function readCode(file: string, note: Note): void {
  const source = ts.createSourceFile(file, readFileSync(`${root}/${file}`, 'utf8'), ts.ScriptTarget.Latest, true);
  const visitCount = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /formatCount$/.test(node.expression.getText()))
      noteCount(node.arguments, file, note);
  };
  /** Counts among the values of a template. */
  const visitCounts = (node: ts.Node): void => {
    visitCount(node);
    ts.forEachChild(node, visitCounts);
  };
  const visit = (node: ts.Node): void => {
    visitCount(node);
    if (endsInTerminal.test(file) && isThrown(node))
      node.arguments?.forEach((argument) => noteThrown(argument, file, note));
    if (reports.test(file) && isReported(node)) ts.forEachChild(node, (child) => noteThrown(child, file, note));
    const text = literalText(node);
    if (text !== undefined && isPage(file) && !isPartOfLiteral(node) && isShown({ node, text, file })) {
      note(text, file);
      visitCounts(node);
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** A value that is a sentence or empty, such as the reason of another error: what surrounds it is translated alone. */
const sentenceOfValue = /(?:^|(?<=[.?!:]) )\{\d+\} (?=[A-Z])|(?<=[.?!]) ?(?:\{\d+\})+$/;

function numberValues(text: string): string {
  let count = 0;
  return text.trim().replace(/\{\d+\}/g, () => `{${String((count += 1))}}`);
}

/** An error, or a line of an error that lists several. */
function isThrown(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  if (ts.isNewExpression(node)) return /Error$/.test(node.expression.getText());
  return ts.isCallExpression(node) && /^(errors\.push|fail)$/.test(node.expression.getText());
}

/** A line that is printed, a finding, or the reason why a point was left out. */
function isReported(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) return /^(add|print)$/.test(node.expression.getText());
  if (ts.isPropertyAssignment(node)) return /^(detail|message)$/.test(node.name.getText());
  return ts.isReturnStatement(node) && node.expression !== undefined && /\.['`]$/.test(node.expression.getText());
}

/** The sentences of an error, which may be joined or chosen from. */
function noteThrown(node: ts.Node, file: string, note: Note): void {
  const text = literalText(node);
  if (text === undefined || isPartOfLiteral(node)) {
    ts.forEachChild(node, (child) => noteThrown(child, file, note));
    return;
  }
  for (const part of text.split(sentenceOfValue).map(numberValues)) {
    const isSentence = /^[“"'{-]*[A-Z{]|^(--|['"])\w/.test(part) && /[a-z] [a-z“"'{]/.test(part);
    if (isSentence && hasLetters(part.replace(/\{\d+\}/g, ''))) note(part, file);
  }
}

function noteCount(given: ts.NodeArray<ts.Expression>, file: string, note: Note): void {
  const [, one, many] = given.map((argument) => literalText(argument));
  if (one !== undefined) note(`{count} ${one}`, file, `{count} ${many ?? `${one}s`}`);
}

/** A literal, a template with its values as `{1}`, or a sum of both. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return (
      node.head.text + node.templateSpans.map((span, index) => `{${String(index + 1)}}${span.literal.text}`).join('')
    );
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const left = literalText(node.left);
    const right = literalText(node.right);
    if (left === undefined || right === undefined) return undefined;
    const before = left.match(/\{\d+\}/g)?.length ?? 0;
    return left + right.replace(/\{(\d+)\}/g, (_all, number: string) => `{${String(Number(number) + before)}}`);
  }
  return undefined;
}

function isPartOfLiteral({ parent }: ts.Node): boolean {
  return ts.isBinaryExpression(parent) && literalText(parent) !== undefined;
}

const isSql = /^(SELECT|WITH|INSERT|UPDATE|DELETE) /;

function isShown({
  node,
  text,
  file,
}: {
  readonly node: ts.Node;
  readonly text: string;
  readonly file: string;
}): boolean {
  if (!hasLetters(text.replace(/\{\d+\}/g, '')) || isSql.test(text)) return false;
  if (!contracts.test(file)) return isText(node, text) || isLabel(node, text);
  return isNamed(node, text) || isDescriptionInTable(node, text) || (isHelpOfSetting.test(file) && isText(node, text));
}

/** Whether it is the value of a property that pages show of a contract. */
function isNamed({ parent }: ts.Node, text: string): boolean {
  if (!ts.isPropertyAssignment(parent)) return false;
  const name = parent.name.getText();
  return contractProperties.has(name) && (name !== 'description' || /^[A-Z`{\d].*[ .]|\.$/.test(text));
}

/** A description in a table such as `{ 404: 'Nothing was found at this URL.' }`, or passed to what makes a schema. */
function isDescriptionInTable({ parent }: ts.Node, text: string): boolean {
  const isSentence = /^[A-Z`{\d]/.test(text) && text.includes(' ') && text.endsWith('.');
  if (ts.isCallExpression(parent)) return isSentence && !leftOutCalls.test(parent.expression.getText());
  return isSentence && (ts.isPropertyAssignment(parent) || ts.isArrayLiteralExpression(parent));
}

/** A word of a table such as `const labels = { vivid: 'Vivid' }` or `[['audio', 'Audio']]`. */
function isLabel({ parent }: ts.Node, text: string): boolean {
  if (!/^[A-Z]/.test(text)) return false;
  if (ts.isArrayLiteralExpression(parent)) {
    const [value, label] = parent.elements.map((element) => literalText(element));
    return parent.elements.length === 2 && label === text && /^[a-z]/.test(value ?? '');
  }
  if (!ts.isPropertyAssignment(parent)) return false;
  const { parent: owner } = parent.parent;
  return (
    (ts.isVariableDeclaration(owner) || ts.isSatisfiesExpression(owner) || ts.isAsExpression(owner)) &&
    /^[a-z][\w-]*$|^'[a-z]/.test(parent.name.getText())
  );
}

/** Whether a person reads it: by what it is assigned to or passed to, else by its look of a sentence. */
function isText(node: ts.Node, text: string): boolean {
  if (
    !hasLetters(text.replace(/\{\d+\}/g, '')) ||
    /^[\w.:/-]*$(?<=[_/].*)|^[a-z]+[A-Z]|^https?:|\n|^[.#-]|=>|^\W*$/.test(text)
  )
    return false;
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isLiteralTypeNode(parent) || ts.isExportDeclaration(parent)) return false;
  const isSentence = /^[“"'{]?[A-Z{][^A-Z]/.test(text) && (/[a-z] [a-z“{]/.test(text) || /[.?!…]$/.test(text));
  if (ts.isPropertyAssignment(parent) && parent.initializer === node)
    return textProperties.has(parent.name.getText()) ? /^[A-Z{“]|\s/.test(text) : isSentence;
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) {
    const name = parent.expression.getText();
    return /^(label|field|color|translateText|withNotice|text|select|limit|list|editorPage|section|h|step|finding)$/.test(
      name,
    )
      ? /^[A-Z{“]/.test(text)
      : !leftOutCalls.test(name) && isSentence;
  }
  if (ts.isConditionalExpression(parent) || ts.isArrowFunction(parent) || ts.isReturnStatement(parent))
    return isSentence || /^[A-Z][a-z]+$/.test(text);
  return isSentence;
}
