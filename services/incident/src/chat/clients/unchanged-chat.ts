import { type Chat, ChatError } from './chat.ts';

/** A chat that a dry run uses: its changes only find out whether the chat would refuse them, as far as it tells. */
export const unchangedChat = (chat: Chat): Chat => ({
  check: chat.check,
  findChannel: chat.findChannel,
  getChannel: chat.getChannel,
  renameChannel: async (_channelId, name) => {
    if ((await chat.findChannel(name)) !== undefined) throw new ChatError('name_taken', 'Another channel has the name');
  },
  createChannel: unsupported,
  setPurpose: unsupported,
  inviteUsergroups: unsupported,
});

/** Only background work does these. */
const unsupported = async (): Promise<never> => {
  throw new Error('a dry run changes nothing in a chat');
};
