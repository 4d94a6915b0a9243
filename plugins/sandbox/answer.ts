import { jsonSample } from './json-sample.ts';
import { digest } from './random.ts';

/** What is requested, without any provider's wire format. */
export interface Question {
  /** Display name of the provider. */
  readonly provider: string;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** Longest answer in tokens; undefined: no limit. */
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly seed: string;
  /** The caller asked for a JSON answer by a parameter. */
  readonly json: boolean;
  /** Answer with a trace of reasoning too. */
  readonly reason: boolean;
  /** The JSON Schema that the answer must match. */
  readonly schema?: unknown;
  /** Functions that may be called. A question of a user calls the first, or the chosen one. */
  readonly tools?: readonly FakeTool[];
  /** `none`, or the name of a function. */
  readonly toolChoice?: string;
}

export interface FakeTool {
  readonly name: string;
  readonly parameters: unknown;
}

export interface Answer {
  readonly text: string;
  /** Why it ends: by itself, at the token limit, or at a stop sequence. */
  readonly finish: 'end' | 'length' | 'stop_sequence';
  readonly stopSequence: string | null;
  /** Empty unless asked for. */
  readonly reasoning: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** The function that is called instead of answering. */
  readonly call: { readonly id: string; readonly name: string; readonly input: unknown } | null;
  /** Hexadecimal; the same for the same question and seed. Identifiers are cut from it. */
  readonly fingerprint: string;
}

/** About four characters a token, as English text has. */
export function countTokens(text: string): number {
  return Math.ceil([...text].length / 4);
}

/**
 * The generated answer. The same question with the same seed gets the same answer, on every node and in every run.
 *
 * A last message `echo: ...` gives its rest back verbatim, in the text fields of the data if a schema is requested; `json: ...`
 * gives a JSON object that holds it.
 */
export function answer(question: Question): Answer {
  const fingerprint = digest(
    question.seed,
    question.provider,
    question.model,
    question.system,
    ...question.messages.flatMap((message) => [message.role, message.content]),
  );
  const prompt = question.messages.at(-1)?.content ?? '';
  const reasoning = question.reason
    ? `Sandbox reasoning: the request has ${String(countTokens(prompt))} tokens and nothing to think about; a made-up answer will do.`
    : '';
  // Reasoning counts against the limit, as it does with real models; half of it at most, so that some text is left.
  const limit = question.maxTokens ?? Infinity;
  const reasoningTokens = Math.min(countTokens(reasoning), Math.floor(limit / 2));
  const call = callOf(question, prompt, fingerprint);
  const text = call === null ? compose(question, prompt, fingerprint) : '';
  const ending = end(text, { stop: question.stop, limit: limit - reasoningTokens });
  return {
    ...ending,
    reasoning,
    reasoningTokens,
    inputTokens: [question.system, ...question.messages.map((message) => message.content)].reduce(
      (sum, text) => sum + countTokens(text),
      3,
    ),
    outputTokens: countTokens(ending.text + (call === null ? '' : JSON.stringify(call))) + reasoningTokens,
    call,
    fingerprint,
  };
}

/** Cuts a text into the pieces of a stream: a few words each; joined they are the text. */
export function pieces(text: string): string[] {
  const words = text.match(/^\s+|\S+\s*/g) ?? [];
  return Array.from({ length: Math.ceil(words.length / 3) }, (_, at) => words.slice(at * 3, at * 3 + 3).join(''));
}

function callOf({ tools = [], toolChoice, messages }: Question, prompt: string, fingerprint: string): Answer['call'] {
  if (messages.at(-1)?.role !== 'user' || toolChoice === 'none') return null;
  const tool = tools.find(({ name }) => name === toolChoice) ?? tools[0];
  if (tool === undefined) return null;
  return { id: `call_${fingerprint.slice(0, 24)}`, name: tool.name, input: jsonSample(tool.parameters ?? {}, prompt) };
}

function compose(question: Question, prompt: string, fingerprint: string): string {
  const special = /^\s*(echo|json):\s?([\s\S]*)$/i.exec(prompt);
  const echoed = special?.[1]?.toLowerCase() === 'echo' ? (special[2] ?? '') : null;
  const schema = question.schema ?? describedSchema(question.system);
  // A model that is held to a schema puts the text into its object. An object that is echoed is taken as it is.
  if (schema !== undefined && !echoed?.trimStart().startsWith('{'))
    return JSON.stringify(jsonSample(schema, echoed ?? prompt));
  if (echoed !== null) return echoed;
  if (special || question.json) {
    return JSON.stringify({
      sandbox: true,
      provider: question.provider,
      model: question.model,
      request: (special?.[2] ?? prompt).trim(),
    });
  }
  const chosen = (list: readonly string[], at: number): string =>
    list[parseInt(fingerprint.slice(at, at + 6), 16) % list.length] ?? '';
  const subject = longestWord(prompt);
  return [
    `Sandbox answer from ${question.provider} (${question.model}): you asked "${quote(prompt)}".`,
    ...(question.system === '' ? [] : [`The instruction "${quote(question.system)}" came with it.`]),
    'No provider was called; this text was generated on your own machine.',
    chosen(openings, 0).replace('{subject}', subject),
    chosen(middles, 6),
    chosen(closings, 12),
  ].join(' ');
}

/** A JSON Schema at the end of the instructions, as a model gets it that cannot be held to one. */
function describedSchema(system: string): unknown {
  const [, text] = /matches this JSON Schema, and no other text:\n(\{.*\})$/.exec(system) ?? [];
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

function end(
  text: string,
  { stop, limit }: { stop: readonly string[]; limit: number },
): Pick<Answer, 'text' | 'finish' | 'stopSequence'> {
  const stops = stop.map((sequence) => ({ sequence, at: text.indexOf(sequence) })).filter(({ at }) => at >= 0);
  const first = stops.sort((left, right) => left.at - right.at)[0];
  const stopped = first ? text.slice(0, first.at) : text;
  if (countTokens(stopped) > limit)
    return { text: [...stopped].slice(0, limit * 4).join(''), finish: 'length', stopSequence: null };
  return { text: stopped, finish: first ? 'stop_sequence' : 'end', stopSequence: first?.sequence ?? null };
}

function quote(text: string): string {
  const line = [...text.replace(/\s+/g, ' ').trim()];
  return line.length > 200 ? `${line.slice(0, 200).join('')}…` : line.join('');
}

function longestWord(prompt: string): string {
  const foundWords = prompt.match(/[\p{L}\p{N}'-]{4,30}/gu) ?? [];
  return foundWords.reduce((longest, word) => (word.length > longest.length ? word : longest), '') || 'this';
}

const openings = [
  'A real model would now say something about {subject}.',
  'Picture here three careful paragraphs about {subject}.',
  'On {subject} the sandbox holds no opinion, which keeps it calm.',
  'Much has been written about {subject}, none of it in this sandbox.',
  'Had a model been asked, {subject} would be explained by now.',
  'The sandbox looked up {subject} and found only sand.',
];
const middles = [
  'Your request arrived whole, was understood by its form and counted in tokens.',
  'The way from your call to this answer is the same one a real answer takes.',
  'Everything but the words is as it will be later: the fields, the usage, the errors.',
  'What you see proves that key, route, provider and settings work together.',
  'The same question will get the same answer, so it suits tests well.',
];
const closings = [
  'Save a real key in the settings when you want real words.',
  'Turn fault injection on the Sandbox page to see how failures look.',
  'Begin a message with "echo:" to get your own text back.',
  'Begin a message with "json:" to get JSON back.',
  'Try the model name fault-429 to meet a rate limit.',
];
