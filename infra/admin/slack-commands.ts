import { connectChat, disconnectChat, setChannelUpdates } from '../../services/incident/src/administration.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { type Command, workspaceFlag } from './command.ts';
import { readSecret, secretFlags } from './read-input.ts';

interface Connection {
  workspace: string;
  botTokenFile?: string;
  botToken?: string;
  appTokenFile?: string;
  appToken?: string;
  channelTemplate?: string;
}

export const connect: Command = {
  flags: {
    workspace: workspaceFlag,
    ...secretFlags('bot-token', 'token', "the Slack app's bot"),
    ...secretFlags('app-token', 'token', 'the app-level (xapp-) Socket Mode'),
    'channel-template': {
      value: 'TEMPLATE',
      help: 'channel names, with {id}, {short_title}, {date}, {severity}, {service}; inc-{id}-{short_title} by default',
    },
  },
  run: async (
    { workspace: slug, channelTemplate: template, ...given }: Connection,
    { gateway, database, secretKeys },
  ) => {
    const botToken = await readSecret('bot-token', { file: given.botTokenFile, secret: given.botToken });
    const app = { file: given.appTokenFile, secret: given.appToken };
    // Without one, there are no commands in Slack.
    const isForCommands = app.file !== undefined || app.secret !== undefined;
    const appToken = isForCommands ? await readSecret('app-token', app) : undefined;
    const { id: workspaceId } = await gateway.getWorkspace(slug);
    const { channelTemplate, commands } = await connectChat(database('incident'), {
      workspaceId,
      botToken,
      appToken,
      channelTemplate: template,
      secretKeys: secretKeys(),
    });
    return { slack: { workspace: slug, connected: true, channel_template: channelTemplate, commands } };
  },
};

export const configure: Command = {
  flags: {
    workspace: workspaceFlag,
    'channel-updates': {
      negatable: true,
      help: 'post changes of status and severity into the channels of incidents; needs the scope chat:write',
    },
  },
  run: async (
    { workspace: slug, channelUpdates }: { workspace: string; channelUpdates?: boolean },
    { gateway, database },
  ) => {
    if (channelUpdates === undefined) throw new UsageError('--channel-updates or --no-channel-updates is required');
    const { id } = await gateway.getWorkspace(slug);
    await setChannelUpdates(database('incident'), id, channelUpdates);
    return { slack: { workspace: slug, channel_updates: channelUpdates } };
  },
};

export const disconnect: Command = {
  flags: { workspace: workspaceFlag },
  run: async ({ workspace: slug }: { workspace: string }, { gateway, database }) => {
    const { id } = await gateway.getWorkspace(slug);
    await disconnectChat(database('incident'), id);
    return { slack: { workspace: slug, connected: false } };
  },
};
