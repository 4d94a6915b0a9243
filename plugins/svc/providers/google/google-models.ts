import type { AiParamName } from '../../kit/ai-params.ts';
import type { TextFeature } from '../../kit/tools.ts';
import type { ImageModelTable, ImageRules } from '../images/image-rules.ts';
import { fitEffort, type ParamOverrides, type ParamContext, type ParamRules, type ReasoningEffort } from '../params.ts';
import type { ImageEditRules, ImageSize, VideoCapability } from '../provider.ts';

// Google's token budgets for the efforts.
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 24576,
  max: 24576,
};
const smallestProBudget = 128;

/** `gemini-2.5-pro` or `models/gemini-2.5-pro` -> 2.5; null for other names. */
export function geminiVersion(model: string): number | null {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(model);
  return match ? Number(match[1]) : null;
}

/** Gemini calls functions and writes JSON; a JSON Schema is enforced from 2.0 on. Gemma does neither. */
export function googleSupports(feature: TextFeature, model: string): boolean {
  if (!/gemini/i.test(model)) return false;
  if (feature === 'response_format.json_schema') return (geminiVersion(model) ?? 2) >= 2;
  return feature === 'tools' || feature === 'tool_choice' || feature === 'response_format.json_object';
}

/** Rules of Gemini's models: thinking is a token budget in 2.5, a level from 3 on, and not supported before. */
function googleParams({ params, model }: ParamContext): ParamOverrides {
  const thinking = params.reasoning_effort === undefined ? null : thinkingConfig(params.reasoning_effort, model);
  return {
    refused: thinking === null ? ['reasoning_effort'] : [],
    nearest: thinking?.nearest ?? [],
    written: {
      stop: { stopSequences: typeof params.stop === 'string' ? [params.stop] : params.stop },
      ...(thinking !== null && { reasoning_effort: { thinkingConfig: thinking.config } }),
    },
  };
}

interface Thinking {
  readonly config: Readonly<Record<string, unknown>>;
  readonly nearest?: readonly AiParamName[];
}

function thinkingConfig(effort: ReasoningEffort, model: string): Thinking | null {
  const version = geminiVersion(model);
  if (version === null || version < 2.5) return null;
  if (version >= 3) {
    const { effort: level, nearest } = fitEffort(effort, levelsOf(model, version));
    return { config: { thinkingLevel: level.toUpperCase() }, nearest };
  }
  // Thinking of 2.5 Pro cannot be turned off.
  return { config: { thinkingBudget: Math.max(budgets[effort], model.includes('pro') ? smallestProBudget : 0) } };
}

function levelsOf(model: string, version: number): readonly ReasoningEffort[] {
  if (model.includes('pro')) return version < 3.1 ? ['low', 'high'] : ['low', 'medium', 'high'];
  return version <= 3.5 ? ['minimal', 'low', 'medium', 'high'] : ['low', 'medium', 'high'];
}

export const googleAddress = 'https://generativelanguage.googleapis.com';

export const googleRules: ParamRules = {
  names: {
    temperature: 'temperature',
    max_completion_tokens: 'maxOutputTokens',
    top_p: 'topP',
    frequency_penalty: 'frequencyPenalty',
    presence_penalty: 'presencePenalty',
    stop: 'stopSequences',
    seed: 'seed',
    top_k: 'topK',
    reasoning_effort: 'thinkingConfig',
  },
  byModel: googleParams,
};

const geminiShapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
/** In bytes: a request can have 20 MB, including the image in base64. Masks are not supported. */
const geminiEdit: ImageEditRules = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  most: 14 * 1_048_576,
  mask: false,
};
const gemini: Omit<ImageRules, 'size'> = {
  perCall: 1,
  quality: {},
  style: false,
  responseFormat: false,
  edit: geminiEdit,
};
const imagen: Omit<ImageRules, 'size' | 'perCall'> = { quality: {}, style: false, responseFormat: false };
const imagenSizes = { shapeName: 'aspectRatio', shapes: ['1:1', '3:4', '4:3', '9:16', '16:9'] };
const largeImagenSizes = { ...imagenSizes, tiers: { name: 'sampleImageSize', edges: { '1K': 1024, '2K': 2048 } } };

/**
 * Google's image models. Sizes map to the nearest aspect ratio and, from Gemini 3 and Imagen 4 on, to a resolution tier.
 * All return base64 only; none supports a quality or a style.
 */
export const googleImageModels: ImageModelTable = {
  models: [
    [/^imagen-4.*fast/, { ...imagen, perCall: 4, size: imagenSizes }],
    [/^imagen-4.*ultra/, { ...imagen, perCall: 1, size: largeImagenSizes }],
    [/^imagen-[4-9]/, { ...imagen, perCall: 4, size: largeImagenSizes }],
    [/^imagen/, { ...imagen, perCall: 4, size: imagenSizes }],
    [/^gemini-2\.0/, { ...gemini, size: null }],
    [/^gemini-2/, { ...gemini, size: { shapeName: 'aspectRatio', shapes: geminiShapes } }],
  ],
  others: {
    ...gemini,
    size: {
      shapeName: 'aspectRatio',
      shapes: geminiShapes,
      tiers: { name: 'imageSize', edges: { '1K': 1024, '2K': 2048, '4K': 4096 } },
    },
  },
};

/** Fields of a request for embeddings. */
export const googleEmbeddingFields = ['taskType', 'outputDimensionality'] as const;

const small: readonly ImageSize[] = ['1280x720', '720x1280'];
const large: readonly ImageSize[] = ['1920x1080', '1080x1920'];
/** Sizes and lengths of Veo's videos. */
export const googleVideoChoices: VideoCapability['takes'] = (model) =>
  isVeo2(model) ? { sizes: small, seconds: [5, 6, 8] } : { sizes: [...small, ...large], seconds: [4, 6, 8] };

export function isVeo2(model: string): boolean {
  return /^(models\/)?veo-2/i.test(model);
}
