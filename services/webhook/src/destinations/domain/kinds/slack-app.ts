import type { KindOfDestination } from './kind.ts';
import { slack } from './slack.ts';

/** A channel of the Slack that the operator has connected; the incident service has its token. */
export const slackApp: KindOfDestination = {
  needs: { url: 'none', credential: 'none', recipients: 'required', headers: 'none', template: 'optional' },
  recipient: { what: 'The ID of one channel of Slack, such as C0123ABCD', pattern: /^[CG][A-Z0-9]{4,30}$/ },
  ...(slack.markup !== undefined && { markup: slack.markup }),
  joins: true,
  message: (items, { workspaceId, recipients: [channel = ''] }) => ({
    ...{ kind: 'slack', workspaceId, channel },
    text: items.map(({ text }) => text).join('\n'),
  }),
};
