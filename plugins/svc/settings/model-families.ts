/** Whose models have names that begin so, as their vendors call them. */
interface ModelFamily {
  readonly names: RegExp;
  /** Ids of providers that serve the family by these names, in the order of preference. */
  readonly providers: readonly [string, ...string[]];
  /** The vendor as gateways call it. */
  readonly vendor: string;
}

/** Names with a colon are tags of local servers. `gpt-oss` has open weights, and is no model of OpenAI's own API. */
const families: readonly ModelFamily[] = [
  { names: /^claude-[^:]*$/i, providers: ['claude'], vendor: 'anthropic' },
  { names: /^gemini-[^:]*$/i, providers: ['google'], vendor: 'google' },
  { names: /^grok-[^:]*$/i, providers: ['xai'], vendor: 'x-ai' },
  { names: /^deepseek-[^:]*$/i, providers: ['deepseek'], vendor: 'deepseek' },
  { names: /^(gpt-(?!oss)|o\d)[^:]*$/i, providers: ['openai', 'azure'], vendor: 'openai' },
];

/** The family of a model by its name, or undefined. */
export function familyOf(model: string): ModelFamily | undefined {
  return families.find(({ names }) => names.test(model));
}
