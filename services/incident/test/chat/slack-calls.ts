import type { Chat, ChatError } from '../../src/chat/clients/chat.ts';

/** Every method of the port, by name. */
export const CALLS: [string, (chat: Chat) => Promise<unknown>][] = [
  ['check', async (chat) => chat.check()],
  ['createChannel', async (chat) => chat.createChannel('inc-1', { isPrivate: false })],
  ['setPurpose', async (chat) => chat.setPurpose('C0000001', 'x')],
  ['setTopic', async (chat) => chat.setTopic('C0000001', 'x')],
  ['findChannel', async (chat) => chat.findChannel('inc-1')],
  ['getChannel', async (chat) => chat.getChannel('C0000001')],
  ['renameChannel', async (chat) => chat.renameChannel('C0000001', 'inc-1')],
  ['inviteUsergroups', async (chat) => chat.inviteUsergroups('C0000001', ['oncall'])],
  ['postMessage', async (chat) => chat.postMessage('C0000001', 'x')],
];

/** Returns the error of a call. */
export async function failureOf(call: Promise<unknown>): Promise<ChatError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome === undefined) throw new Error('The call did not fail');
  return outcome as ChatError;
}
