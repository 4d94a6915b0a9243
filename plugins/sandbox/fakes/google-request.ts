import { asRecord, isRecord } from '#plugin-api';
import type { Question } from '../answer.ts';
import { jsonResponse, Refusal, readStops, readContentText } from '../fake.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';

export function googleError(error: {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly object[];
}): FakeResponse {
  return jsonResponse(error.code, {
    error: {
      code: error.code,
      message: error.message,
      status: error.status,
      ...(error.details && { details: error.details }),
    },
  });
}

export const invalidArgument = (message: string): Refusal =>
  new Refusal(googleError({ code: 400, status: 'INVALID_ARGUMENT', message }));

export function unknownModel(model: string, version: string, method = 'generateContent'): FakeResponse {
  return googleError({
    code: 404,
    status: 'NOT_FOUND',
    message:
      `models/${model} is not found for API version ${version}, or is not supported for ${method}. Call ` +
      `ListModels to see the list of available models and their supported methods.`,
  });
}

/** Members Google knows; it refuses a body with any other. */
const requestMembers = [
  'model',
  'systemInstruction',
  'contents',
  'tools',
  'toolConfig',
  'safetySettings',
  'generationConfig',
  'cachedContent',
];
const configMembers = [
  'candidateCount',
  'stopSequences',
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'seed',
  'responseMimeType',
  'responseSchema',
  '_responseJsonSchema',
  'responseJsonSchema',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'enableEnhancedCivicAnswers',
  'responseModalities',
  'speechConfig',
  'thinkingConfig',
  'imageConfig',
  'mediaResolution',
];

/**
 * Reads a generateContent request and checks it as Google does.
 *
 * @throws Refusal in Google's shape.
 */
export function readGenerateRequest(request: FakeRequest): Question {
  const { model = '', version = 'v1beta' } = request.params;
  if (model.startsWith('missing-')) throw new Refusal(unknownModel(model, version));
  if (!isRecord(request.body)) throw invalidArgument('Invalid JSON payload received. Expected an object.');
  const body = withCamelCase(request.body);
  checkMembers(body, requestMembers, '');
  const config = isRecord(body['generationConfig']) ? withCamelCase(body['generationConfig']) : {};
  checkMembers(config, configMembers, " at 'generation_config'");
  const maxTokens = config['maxOutputTokens'];
  if (maxTokens !== undefined && (typeof maxTokens !== 'number' || maxTokens < 1))
    throw invalidArgument('* GenerateContentRequest.generation_config.max_output_tokens: must be positive.');
  const temperature = config['temperature'];
  if (temperature !== undefined && (typeof temperature !== 'number' || temperature < 0 || temperature > 2)) {
    throw invalidArgument(
      `* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].`,
    );
  }
  return {
    provider: 'Google',
    model,
    system: isRecord(body['systemInstruction']) ? readContentText(body['systemInstruction']['parts']) : '',
    messages: readContents(body['contents']),
    maxTokens,
    stop: readStops(config['stopSequences']),
    seed: `${String(request.seed)}/${String(config['seed'] ?? '')}`,
    json: config['responseMimeType'] === 'application/json',
    reason: false,
    ...readTools(body, config['responseJsonSchema']),
  };
}

function readTools({ tools, toolConfig }: Record<string, unknown>, schema: unknown): Partial<Question> {
  const declared = (Array.isArray(tools) ? (tools as unknown[]) : []).flatMap((tool) =>
    isRecord(tool) && Array.isArray(tool['functionDeclarations']) ? (tool['functionDeclarations'] as unknown[]) : [],
  );
  const calling = isRecord(toolConfig) ? toolConfig['functionCallingConfig'] : undefined;
  const allowed: unknown = isRecord(calling)
    ? (calling['allowedFunctionNames'] as unknown[] | undefined)?.[0]
    : undefined;
  const mode = isRecord(calling) ? String(calling['mode']).toLowerCase() : undefined;
  return {
    ...(schema !== undefined && { schema }),
    tools: declared
      .filter(isRecord)
      .map((tool) => ({ name: String(tool['name']), parameters: tool['parametersJsonSchema'] ?? tool['parameters'] })),
    ...(mode !== undefined && { toolChoice: typeof allowed === 'string' ? allowed : mode }),
  };
}

function readContents(contents: unknown): { role: string; content: string }[] {
  if (!Array.isArray(contents) || contents.length === 0)
    throw invalidArgument('* GenerateContentRequest.contents: contents is not specified\n');
  return contents.map((content: unknown, index) => {
    const { role = 'user', parts } = asRecord(content);
    if (role !== 'user' && role !== 'model') throw invalidArgument('Please use a valid role: user, model.');
    if (!Array.isArray(parts) || parts.length === 0)
      throw invalidArgument(
        `* GenerateContentRequest.contents[${String(index)}].parts: contents.parts must not be empty.\n`,
      );
    const isResult = (parts as unknown[]).some((part) => isRecord(part) && isRecord(part['functionResponse']));
    return { role: isResult ? 'tool' : role, content: readContentText(parts) };
  });
}

function checkMembers(object: Readonly<Record<string, unknown>>, known: readonly string[], path: string): void {
  const stranger = Object.keys(object).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw invalidArgument(`Invalid JSON payload received. Unknown name "${stranger}"${path}: Cannot find field.`);
}

/** Google reads `generation_config` and `generationConfig` alike. */
function withCamelCase(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
