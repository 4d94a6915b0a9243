import { asRecord, isRecord } from '#plugin-api';
import { recipeOf } from '../images/image-address.ts';
import { shapedSize } from '../images/image-size.ts';
import { drawPicture } from '../images/picture.ts';
import { jsonResponse, Refusal, readContentText } from '../fake.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';
import { chatCompletion } from './chat-completions.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { problemReply } from './chat-problems.ts';

const shapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const edges: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 };

interface Answer {
  readonly choices: readonly { readonly message: Readonly<Record<string, unknown>> }[];
}

/**
 * A chat completion at OpenRouter: with `modalities` that name `image`, the message carries a picture as a `data:`
 * address. Models that only draw refuse to write too, and those that only write to draw.
 */
export function routedCompletion(dialect: ChatDialect, request: FakeRequest): FakeResponse {
  const body = asRecord(request.body);
  const modalities = Array.isArray(body['modalities']) ? body['modalities'].map(String) : [];
  if (!modalities.includes('image')) return chatCompletion(dialect, request);
  const model = String(body['model']);
  const none = (): Refusal =>
    new Refusal(
      jsonResponse(404, {
        error: {
          message: `No endpoints found that support the requested output modalities: ${modalities.join(', ')}`,
          code: 404,
        },
      }),
    );
  if (
    /gpt-[\d.]+|claude|deepseek|embedding/.test(model) ||
    (modalities.includes('text') && /flux|seedream|riverflow|recraft/i.test(model))
  )
    throw none();
  const reply = chatCompletion(dialect, { ...request, body: { ...body, stream: false } });
  const whole = JSON.parse(String(reply.chunks[0])) as Answer;
  const image = { type: 'image_url', image_url: { url: pictureOf(dialect, request, body) }, index: 0 };
  return jsonResponse(
    200,
    {
      ...whole,
      choices: whole.choices.map((choice) => ({
        ...choice,
        message: {
          ...choice.message,
          content: modalities.includes('text') ? 'Here is a picture drawn by the sandbox.' : '',
          images: [image],
        },
      })),
    },
    reply.headers,
  );
}

/** Whether a model of that name is listed as one that gives pictures. */
export function drawsImages(model: string): boolean {
  return /image|flux|seedream|riverflow|recraft/i.test(model);
}

function pictureOf(dialect: ChatDialect, request: FakeRequest, body: Readonly<Record<string, unknown>>): string {
  const { aspect_ratio: shape = '1:1', image_size: size = '1K' } = isRecord(body['image_config'])
    ? body['image_config']
    : {};
  const refuse = (param: string, message: string): Refusal =>
    new Refusal(problemReply(dialect, 'invalid', { param, message }));
  if (typeof shape !== 'string' || !shapes.includes(shape))
    throw refuse('image_config', `image_config.aspect_ratio: Invalid option: expected one of ${shapes.join('|')}`);
  const edge = edges[String(size)];
  if (edge === undefined)
    throw refuse('image_config', 'image_config.image_size: Invalid option: expected one of 1K|2K|4K');
  const messages: readonly unknown[] = Array.isArray(body['messages']) ? body['messages'] : [];
  const last = messages.at(-1);
  const prompt = isRecord(last) ? readContentText(last['content']) : '';
  const recipe = recipeOf({
    prompt,
    ...shapedSize(shape, edge),
    index: 0,
    seed: request.seed,
    model: String(body['model']),
  });
  return `data:image/png;base64,${drawPicture(recipe).toString('base64')}`;
}
