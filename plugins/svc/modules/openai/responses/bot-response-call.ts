import type { User } from '#plugin-api';
import { callerOf, requireScopes } from '../../../kit/caller.ts';
import { errors } from '../../../kit/errors.ts';
import { restOrigin } from '../../../kit/usage-origin.ts';
import type { OpenAiPorts } from '../openai-ports.ts';
import { notSupported, responsesPath, type GivenResponse, type ResponseCall } from './response-run.ts';

/** Parameters that a chatbot cannot do without if they are sent. */
const refused: readonly string[] = ['tools', 'tool_choice', 'previous_response_id', 'conversation'];
/** Its own settings decide the rest, which many clients always send. */
const used: readonly string[] = ['model', 'input', 'stream', 'store', 'background', 'stream_options'];

/**
 * The reply of a chatbot.
 *
 * @throws RestError 400 `rest_svc_parameter_not_supported` for what a chatbot cannot do; what its settings decide is named
 */
export function botResponseCall(
  botId: number,
  { body, messages, lost, request }: GivenResponse,
  { botReplies }: OpenAiPorts,
): ResponseCall['run'] {
  const model = `bot:${String(botId)}`;
  const given = Object.keys(body).filter((name) => {
    const value = body[name];
    return value !== null && !(Array.isArray(value) && value.length === 0);
  });
  const [param] = [...given.filter((name) => refused.includes(name)), ...lost.needed];
  if (param !== undefined) throw notSupported(param, { model });
  const ignored = given.filter((name) => !used.includes(name));
  const conversation = messages.flatMap(({ role, content, images = [], toolCalls = [] }) => {
    if (role === 'tool' || toolCalls.length > 0 || images.length > 0) throw notSupported('input', { model });
    if (role !== 'system') return [{ role, content }];
    ignored.push('input');
    return [];
  });
  if (conversation.at(-1)?.role !== 'user' || conversation.at(-1)?.content.trim() === '')
    throw errors.invalid_last_message({ data: { param: 'input' } });
  const user: Pick<User, 'id' | 'displayName' | 'roles'> = request.user;
  return async (signal, { onText } = {}) => {
    requireScopes(callerOf(request), { chatbot: botId });
    const origin = { ...restOrigin(request, responsesPath), module: 'chatbots', botId };
    const reply = await botReplies.reply(botId, { messages: conversation, user, origin, signal, onText });
    return { ...reply, ignored: [...reply.ignored, ...ignored] };
  };
}
