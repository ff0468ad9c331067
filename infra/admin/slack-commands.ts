import { connectChat, disconnectChat } from '../../services/incident/src/administration.ts';
import type { Command, Flag } from './command.ts';
import { readSecret } from './read-input.ts';

const workspace: Flag = { type: 'string', value: 'SLUG', help: 'the workspace', required: true };

export const slackCommands: readonly Command[] = [
  {
    name: 'slack connect',
    summary: 'Connect a workspace to Slack, or change the connection',
    flags: {
      workspace,
      'bot-token-file': {
        type: 'string',
        value: 'FILE',
        help: "a file with the Slack app's bot token, which is stored encrypted",
        isFile: true,
      },
      'bot-token': {
        type: 'string',
        value: 'TOKEN',
        help: 'the token itself, visible to other users of the machine; - reads it from standard input',
      },
      'channel-template': {
        type: 'string',
        value: 'TEMPLATE',
        help: 'channel names, with {id}, {short_title}, {date}, {severity}, {service}; inc-{id}-{short_title} by default',
      },
    },
    run: async (values, { gateway, database, secretKeys }) => {
      const slug = values.required('workspace');
      const botToken = await readSecret(values, 'slack connect', 'bot-token');
      const { id: workspaceId } = await gateway.getWorkspace(slug);
      const { channelTemplate } = await connectChat(database('incident'), {
        workspaceId,
        botToken,
        channelTemplate: values.text('channel-template'),
        secretKeys: secretKeys(),
      });
      return { slack: { workspace: slug, connected: true, channel_template: channelTemplate } };
    },
  },
  {
    name: 'slack disconnect',
    summary: 'Disconnect a workspace from Slack; its channels stay',
    flags: { workspace },
    run: async (values, { gateway, database }) => {
      const slug = values.required('workspace');
      const { id } = await gateway.getWorkspace(slug);
      await disconnectChat(database('incident'), id);
      return { slack: { workspace: slug, connected: false } };
    },
  },
];
