import { Ajv2020 } from 'ajv/dist/2020.js';

const text = { type: 'string' } as const;
const object = (properties: object, required: readonly string[] = Object.keys(properties)) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const;
const named = (type: string, properties: object) => object({ type: { const: type }, ...properties });

const content = {
  anyOf: [
    text,
    {
      type: 'array',
      minItems: 1,
      items: {
        anyOf: [
          named('input_text', { text }),
          named('input_image', { image_url: text, detail: { enum: ['auto', 'low', 'high'] } }),
        ],
      },
    },
  ],
};

const input = {
  anyOf: [
    object({ role: { enum: ['user', 'assistant', 'system', 'developer'] }, content }),
    named('function_call', { call_id: text, name: text, arguments: text }),
    named('function_call_output', { call_id: text, output: text }),
    { type: 'object', properties: { type: { const: 'reasoning' } }, required: ['type', 'summary'] },
  ],
};

const schema = { type: 'object' } as const;
const format = {
  anyOf: [
    named('json_object', {}),
    object({ type: { const: 'json_schema' }, name: text, schema, description: text, strict: { type: 'boolean' } }, [
      'type',
      'name',
      'schema',
    ]),
  ],
};

/**
 * What our providers may send to `POST /responses`, made by hand after OpenAI's reference of the API (types of the package `openai`
 * 7.59). Nothing else passes.
 */
export const validResponsesRequest = new Ajv2020({ strict: false, allErrors: true }).compile(
  object(
    {
      model: text,
      input: { type: 'array', items: input },
      instructions: text,
      store: { type: 'boolean' },
      include: { type: 'array', items: { const: 'reasoning.encrypted_content' } },
      stream: { type: 'boolean' },
      temperature: { type: 'number', minimum: 0, maximum: 2 },
      top_p: { type: 'number', minimum: 0, maximum: 1 },
      max_output_tokens: { type: 'integer', minimum: 16 },
      reasoning: object({ effort: { enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] } }),
      tools: {
        type: 'array',
        items: object(
          {
            type: { const: 'function' },
            name: text,
            description: text,
            parameters: { type: ['object', 'null'] },
            strict: { type: 'boolean' },
          },
          ['type', 'name', 'parameters', 'strict'],
        ),
      },
      tool_choice: { anyOf: [{ enum: ['auto', 'none', 'required'] }, named('function', { name: text })] },
      parallel_tool_calls: { type: 'boolean' },
      text: object({ format, verbosity: { enum: ['low', 'medium', 'high'] } }, []),
      user: text,
      metadata: { type: 'object' },
      prompt_cache_key: text,
      safety_identifier: text,
      service_tier: text,
    },
    ['model', 'input', 'store'],
  ),
);
