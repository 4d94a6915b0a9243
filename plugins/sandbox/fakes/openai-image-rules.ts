import { readSize, shapedSize } from '../images/image-size.ts';
import type { Size } from '../images/image-size.ts';
import type { Refusal } from '../fake.ts';

/** A refusal because of one parameter. */
export type Refuse = (param: string, message: string) => Refusal;
type Body = Readonly<Record<string, unknown>>;

/** What one image model takes. */
export interface ImageRules {
  readonly longestPrompt: number;
  readonly mostImages: number;
  readonly qualities: readonly string[];
  /** Parameters the model refuses to hear of. */
  readonly unknown: readonly string[];
  readonly unknownSentence: (param: string) => string;
  /** Answers base64 whatever is asked. */
  readonly alwaysBase64: boolean;
  readonly revises: boolean;
  /** The size that is asked for, or the usual one. @throws Refusal. */
  readonly size: (body: Body, refuse: Refuse) => Size;
}

const square: Size = { width: 1024, height: 1024 };

function oneOf(...sizes: readonly string[]): ImageRules['size'] {
  return ({ size }, refuse) => {
    if (size === undefined || size === null || (size === 'auto' && sizes.includes('auto'))) return square;
    const read = typeof size === 'string' && sizes.includes(size) ? readSize(size) : null;
    if (!read)
      throw refuse(
        'size',
        `Invalid value: '${String(size)}'. Supported values are: ${sizes.map((entry) => `'${entry}'`).join(', ')}.`,
      );
    return read;
  };
}

/** Any size whose sides are multiples of 16, not more than three times as long as wide, up to 3840x2160. */
const freeSize: ImageRules['size'] = ({ size }, refuse) => {
  if (size === undefined || size === null || size === 'auto') return square;
  const read = readSize(String(size));
  if (!read) throw refuse('size', `Invalid size '${String(size)}'. Expected 'auto' or WIDTHxHEIGHT.`);
  const { width, height } = read;
  if (width % 16 !== 0 || height % 16 !== 0)
    throw refuse('size', `Invalid size '${String(size)}'. Width and height must both be divisible by 16.`);
  if (Math.max(width / height, height / width) > 3)
    throw refuse('size', `Invalid size '${String(size)}'. The aspect ratio must be between 1:3 and 3:1.`);
  if (Math.max(width, height) > 3840 || width * height > 3840 * 2160)
    throw refuse('size', `Invalid size '${String(size)}'. The maximum supported resolution is 3840x2160.`);
  return read;
};

const lenientSize: ImageRules['size'] = ({ size }, refuse) => {
  if (size === undefined || size === null || size === 'auto') return square;
  const read = readSize(String(size));
  if (!read) throw refuse('size', `Invalid value: '${String(size)}'. The sandbox draws from 16 to 4096 pixels a side.`);
  return read;
};

const openAiUnknown = (param: string): string => `Unknown parameter: '${param}'.`;
const base = {
  mostImages: 10,
  unknown: [] as readonly string[],
  unknownSentence: openAiUnknown,
  alwaysBase64: false,
  revises: false,
};
const gptImage = {
  ...base,
  longestPrompt: 32000,
  qualities: ['low', 'medium', 'high', 'auto'],
  unknown: ['style', 'response_format'],
  alwaysBase64: true,
};

const models: readonly (readonly [RegExp, ImageRules])[] = [
  [
    /dall-?e-?2/i,
    {
      ...base,
      longestPrompt: 1000,
      qualities: ['standard'],
      unknown: ['style'],
      size: oneOf('256x256', '512x512', '1024x1024'),
    },
  ],
  [
    /dall-?e-?3/i,
    {
      ...base,
      longestPrompt: 4000,
      mostImages: 1,
      qualities: ['standard', 'hd', 'auto'],
      revises: true,
      size: oneOf('1024x1024', '1792x1024', '1024x1792'),
    },
  ],
  [/gpt-image-2/i, { ...gptImage, size: freeSize }],
  [/gpt-image/i, { ...gptImage, size: oneOf('1024x1024', '1536x1024', '1024x1536', 'auto') }],
];

/** For a name that nothing is known of. */
const others: ImageRules = {
  ...base,
  longestPrompt: 32000,
  qualities: ['standard', 'hd', 'low', 'medium', 'high', 'auto'],
  size: lenientSize,
};

/** What OpenAI's model of that name takes, here and at Azure, where deployments are often named after it. */
export function imageRules(model: string): ImageRules {
  return models.find(([name]) => name.test(model))?.[1] ?? others;
}

const shapes = [
  '1:1',
  '3:4',
  '4:3',
  '9:16',
  '16:9',
  '2:3',
  '3:2',
  '9:19.5',
  '19.5:9',
  '9:20',
  '20:9',
  '1:2',
  '2:1',
  'auto',
];
const edges: Readonly<Record<string, number>> = { '1k': 1024, '2k': 2048 };

/** What xAI's models take: a shape and a resolution in place of a size; the older ones neither. */
export function xAiImageRules(model: string): ImageRules {
  const old = /^grok-2/.test(model);
  return {
    ...base,
    longestPrompt: old ? 1024 : 8000,
    qualities: ['low', 'medium', 'high'],
    unknown: old ? ['size', 'quality', 'style'] : ['size', 'style'],
    unknownSentence: (param) => `Argument not supported: ${param}`,
    revises: true,
    size: (body, refuse) => {
      const { aspect_ratio: shape = 'auto', resolution = '1k' } = body;
      if (old && (body['aspect_ratio'] ?? body['resolution']) !== undefined)
        throw refuse('aspect_ratio', 'Argument not supported: aspect_ratio');
      if (typeof shape !== 'string' || !shapes.includes(shape))
        throw refuse(
          'aspect_ratio',
          `aspect_ratio: unknown variant \`${String(shape)}\`, expected one of ${shapes.join(', ')}`,
        );
      const edge = edges[String(resolution)];
      if (edge === undefined)
        throw refuse(
          'resolution',
          `resolution: unknown variant \`${String(resolution)}\`, expected one of ${Object.keys(edges).join(', ')}`,
        );
      return shapedSize(shape === 'auto' ? '1:1' : shape, edge);
    },
  };
}
