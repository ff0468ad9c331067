import { connectChat, disconnectChat } from '../../services/incident/src/administration.ts';
import type { Command, Flag } from './command.ts';

const workspace: Flag = { type: 'string', value: 'SLUG', help: 'the workspace', required: true };

export const slackCommands: readonly Command[] = [
  {
    name: 'slack connect',
    summary: 'Connect a workspace to its Slack, or change the connection',
    flags: {
      workspace,
      'bot-token': {
        type: 'string',
        value: 'TOKEN',
        help: "the Slack app's bot token; kept encrypted",
        required: true,
      },
      'channel-template': {
        type: 'string',
        value: 'TEMPLATE',
        help: 'names of channels, with {id}, {short_title}, {date}, {severity}, {service}; inc-{id}-{short_title} unless set',
      },
    },
    run: async (given, { gateway, database, secretKeys }) => {
      const slug = given.required('workspace');
      const { id: workspaceId } = await gateway.getWorkspace(slug);
      const { channelTemplate } = await connectChat(database('incident'), {
        workspaceId,
        botToken: given.required('bot-token'),
        channelTemplate: given.text('channel-template'),
        secretKeys: secretKeys(),
      });
      return { slack: { workspace: slug, connected: true, channel_template: channelTemplate } };
    },
  },
  {
    name: 'slack disconnect',
    summary: 'Cut the connection of a workspace to its Slack; channels stay as they are',
    flags: { workspace },
    run: async (given, { gateway, database }) => {
      const slug = given.required('workspace');
      const { id } = await gateway.getWorkspace(slug);
      await disconnectChat(database('incident'), id);
      return { slack: { workspace: slug, connected: false } };
    },
  },
];
