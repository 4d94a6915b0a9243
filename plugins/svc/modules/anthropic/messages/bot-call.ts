import type { User } from '#plugin-api';
import { callerOf, requireScopes } from '../../../kit/caller.ts';
import { errors } from '../../../kit/errors.ts';
import { restOrigin } from '../../../kit/usage-origin.ts';
import { anthropicName } from '../param-names.ts';
import type { AnthropicPorts } from '../anthropic-ports.ts';
import { notSupported, type GivenMessage, type RunMessage } from './given-message.ts';
import { messagesPath } from './text-call.ts';

/**
 * The reply of a chatbot. Its own settings decide what many clients always send; that is named.
 *
 * @throws RestError 400 `rest_svc_parameter_not_supported` for what a chatbot cannot do: tools, formats, images
 */
export function botCall(botId: number, given: GivenMessage, { botReplies }: AnthropicPorts): RunMessage {
  const { messages, params, extras, native, request } = given;
  const model = `bot:${String(botId)}`;
  if (extras.tools !== undefined) throw notSupported('tools', model);
  if (extras.format !== undefined) throw notSupported('output_config.format', model);
  const ignored = [...native.needed, ...native.spared, ...Object.keys(params).map(anthropicName)];
  if (extras.endUser !== undefined) ignored.push('metadata.user_id');
  const conversation = messages.flatMap(({ role, content, images = [], toolCalls = [] }) => {
    if (role === 'tool' || toolCalls.length > 0 || images.length > 0) throw notSupported('messages.content', model);
    if (role !== 'system') return [{ role, content }];
    ignored.push('system');
    return [];
  });
  if (conversation.at(-1)?.role !== 'user' || conversation.at(-1)?.content.trim() === '')
    throw errors.invalid_last_message({ data: { param: 'messages' } });
  const user: Pick<User, 'id' | 'displayName' | 'roles'> = request.user;
  return async (signal, pieces) => {
    requireScopes(callerOf(request), { chatbot: botId });
    const origin = { ...restOrigin(request, messagesPath), module: 'chatbots', botId };
    const onText = pieces && ((piece: string) => pieces.onText(piece));
    const reply = await botReplies.reply(botId, { messages: conversation, user, origin, signal, onText });
    return { ...reply, ignored: [...reply.ignored, ...ignored] };
  };
}
