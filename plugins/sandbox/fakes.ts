import type { Fake, FakeStore, FakeProvider } from './fake.ts';
import { fakeAnthropic } from './fakes/anthropic.fake.ts';
import { fakeAzure } from './fakes/azure.fake.ts';
import { fakeDeepSeek } from './fakes/deepseek.fake.ts';
import { fakeImages } from './fakes/images.fake.ts';
import { fakeGoogle } from './fakes/google.fake.ts';
import { fakeOllama } from './fakes/ollama.fake.ts';
import { fakeOpenAi } from './fakes/openai.fake.ts';
import { fakeOpenRouter } from './fakes/openrouter.fake.ts';
import { fakeXAi } from './fakes/xai.fake.ts';
import { fakeChroma } from './fakes/stores/chroma.fake.ts';
import { fakePinecone } from './fakes/stores/pinecone.fake.ts';
import { fakeQdrant } from './fakes/stores/qdrant.fake.ts';

/** Every fake of a provider; the first segment of an address is its id. */
export const fakeProviders: readonly FakeProvider[] = [
  fakeOpenAi,
  fakeAzure,
  fakeGoogle,
  fakeOpenRouter,
  fakeAnthropic,
  fakeDeepSeek,
  fakeXAi,
  fakeOllama,
];

export function findFakeProvider(id: string): FakeProvider | undefined {
  return fakeProviders.find((fake) => fake.id === id);
}

/** Every fake of a vector store. */
export const fakeStores: readonly FakeStore[] = [fakePinecone, fakeQdrant, fakeChroma];

export function findFakeStore(id: string): FakeStore | undefined {
  return fakeStores.find((fake) => fake.id === id);
}

/** Paths that are a store's own although its id is not in front: the clients of these two leave a path of their address out. */
const bare: readonly (readonly [RegExp, Fake])[] = [
  [/^\/collections(?:\/|$)/, fakeQdrant],
  [/^\/api\/v[12](?:\/|$)/, fakeChroma],
];

/** The fake a path leads to, and the path below its root. */
export function findFake(path: string): { readonly fake: Fake; readonly rest: string } | undefined {
  const [, owner] = bare.find(([pattern]) => pattern.test(path)) ?? [];
  if (owner) return { fake: owner, rest: path };
  const [, id = '', rest = ''] = /^\/([^/]*)(\/.*)?$/.exec(path) ?? [];
  const fake = findFakeProvider(id) ?? findFakeStore(id) ?? (id === fakeImages.id ? fakeImages : undefined);
  return fake && { fake, rest };
}
