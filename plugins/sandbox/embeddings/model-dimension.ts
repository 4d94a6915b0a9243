/** Length of a model's vectors unless the caller asks for another. */
export function modelDimension(model: string): number {
  return dimensions.find(([name]) => name.test(model))?.[1] ?? 1536;
}

/** Whether the length of a model's vectors can be chosen. */
export function canShorten(model: string): boolean {
  return !/ada-002|nomic|minilm|mxbai|bge/i.test(model);
}

const dimensions: readonly (readonly [RegExp, number])[] = [
  [/gemini-embedding|3-large|embedding.*large/i, 3072],
  [/text-embedding-00\d|nomic|gemma|embedding-gecko/i, 768],
  [/mxbai|bge/i, 1024],
  [/minilm/i, 384],
  [/qwen3-embedding-8b/i, 4096],
];
