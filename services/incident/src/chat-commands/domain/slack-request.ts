import { z } from 'zod';

const id = z.string().min(1).max(64);
/** The most characters of a text of Slack, which escapes may lengthen. */
const text = z.string().max(200_000);
const address = z.string().max(2_048);

/** The parts that we use of what Slack sends. */
const slashCommand = z.object({
  user_id: id,
  channel_id: id,
  text: text.catch(''),
  response_url: address,
  trigger_id: z.string().optional(),
});

const messageAction = z.object({
  type: z.literal('message_action'),
  callback_id: z.literal('add_to_timeline'),
  user: z.object({ id }),
  channel: z.object({ id }),
  response_url: address,
  trigger_id: z.string().optional(),
  message: z.object({
    /** Seconds since 1970 with six decimals; it identifies the message in its channel. */
    ts: z.string().regex(/^\d{1,12}\.\d{1,6}$/),
    text: text.catch(''),
    user: id.optional(),
    username: z.string().max(200).optional(),
  }),
});

/** Who asks in the chat for what, and where. */
export type ChatRequest = {
  /** The same for each repetition. */
  id: string;
  userId: string;
  channelId: string;
  /** Where the answer goes. */
  responseUrl: string;
} & (
  | { kind: 'command'; text: string }
  | { kind: 'add_to_timeline'; message: z.infer<typeof messageAction>['message'] }
);

/** Reads an envelope of Slack. @returns undefined: nothing that this service does */
export function readRequest({
  id: envelopeId,
  type,
  body,
}: {
  id: string;
  type: string;
  body: unknown;
}): ChatRequest | undefined {
  if (type === 'slash_commands') {
    const { success, data } = slashCommand.safeParse(body);
    if (!success) return undefined;
    const {
      user_id: userId,
      channel_id: channelId,
      response_url: responseUrl,
      trigger_id: trigger,
      text: asked,
    } = data;
    return { ...{ id: idOf(trigger, envelopeId), userId, channelId, responseUrl }, kind: 'command', text: asked };
  }
  const { success, data } = messageAction.safeParse(type === 'interactive' ? body : undefined);
  if (!success) return undefined;
  const { user, channel, response_url: responseUrl, trigger_id: trigger, message } = data;
  const common = { id: idOf(trigger, envelopeId), userId: user.id, channelId: channel.id, responseUrl };
  return { ...common, kind: 'add_to_timeline', message };
}

/** Slack has one trigger for each time that somebody does something. */
const idOf = (trigger: string | undefined, envelopeId: string): string =>
  trigger !== undefined && /^[\x21-\x7e]{1,120}$/.test(trigger) ? trigger : envelopeId;
