import { connectChat, disconnectChat } from '../../services/incident/src/administration.ts';
import type { Command, Flag, FlagValues } from './command.ts';
import { readInputFile, readStandardInput } from './read-input.ts';
import { UsageError } from './target.ts';

const workspace: Flag = { type: 'string', value: 'SLUG', help: 'the workspace', required: true };

/** A token has at most 512 bytes. */
const MAX_INPUT_BYTES = 4_096;

/** Prefers a file or standard input: every user of the machine can see the command line. */
async function readBotToken(values: FlagValues): Promise<string> {
  const [file, token] = [values.text('bot-token-file'), values.text('bot-token')];
  if (file !== undefined && token !== undefined) {
    throw new UsageError('slack connect: use either --bot-token-file or --bot-token');
  }
  if (token !== undefined && token !== '-') return token;
  if (file === undefined && token === undefined) {
    throw new UsageError('slack connect: --bot-token-file or --bot-token is missing');
  }
  const content =
    file === undefined ? await readStandardInput(MAX_INPUT_BYTES) : await readInputFile(file, MAX_INPUT_BYTES);
  const text = content.toString().trim();
  if (text === '') throw new UsageError(`${file ?? 'standard input'}: contains no token`);
  return text;
}

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
      const botToken = await readBotToken(values);
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
