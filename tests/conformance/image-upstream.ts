import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ImageRequest, ProviderSettings } from '../../plugins/svc/providers/provider.ts';
import type { JsonBody } from './upstream.ts';

/** An image as an upstream gives it; base64 where there is no address. */
export interface GivenImage {
  readonly b64?: string;
  readonly url?: string;
  readonly revised?: string;
}

/** What the suites know of one upstream of images, from its documentation and not from our code. */
export interface ImageUpstream {
  readonly id: string;
  readonly title: string;
  readonly label: string;
  readonly settings: ProviderSettings;
  readonly origin: string;
  readonly model: string;
  readonly path: string;
  /** Header that carries the key, and its value. */
  readonly key: readonly [name: string, value: string];
  readonly perCall: number;
  /** Whether it can give an address, base64, and what it made of the prompt. */
  readonly gives: { readonly url: boolean; readonly b64: boolean; readonly revised: boolean };
  /** Body of a request for `prompt` with nothing else said. */
  bare(prompt: string, n: number): JsonBody;
  /** What each field of `fields`, given alone, adds to the bare body; null: it is not taken, so named as ignored. */
  readonly wire: Readonly<Record<'size' | 'quality' | 'style', JsonBody | null>>;
  /** The form asked for, as the body says it; undefined where the upstream knows one alone. */
  formOf(body: JsonBody): unknown;
  answer(images: readonly GivenImage[]): JsonBody;
  /** What the answer's usage becomes. */
  readonly usage: JsonBody | null;
  /** Model named in the answer, where it names one. */
  readonly answeredBy?: string;
  /** Answers of success without an image, and what of them must reach the caller. */
  readonly withheld: readonly (readonly [body: JsonBody, reason: string])[];
  /** Error bodies around `{message}`. */
  readonly error: JsonBody;
  /** The official schema of the request, where it speaks of this upstream. */
  readonly valid: ValidateFunction;
  /** Members with additions of its own, which that schema does not know. */
  readonly additions?: readonly string[];
}

export const fields: Required<Pick<ImageRequest, 'size' | 'quality' | 'style'>> = {
  size: '1792x1024',
  quality: 'hd',
  style: 'natural',
};

export function schemaOf(file: string, name: string, notRequired: readonly string[] = []): ValidateFunction {
  const { $defs } = JSON.parse(readFileSync(new URL(`../specs/${file}.json`, import.meta.url), 'utf8')) as {
    $defs: Record<string, { required?: string[] }>;
  };
  const root = $defs[name]!;
  root.required = (root.required ?? []).filter((member) => !notRequired.includes(member));
  return new Ajv2020({ strict: false, allErrors: true }).compile({ $defs, $ref: `#/$defs/${name}` });
}
