import type { Destination } from '@tocsin/sdk';
import { formatName } from '../ui/format.ts';

/** An input of a kind. */
interface Asked {
  label: string;
  placeholder?: string;
  /** What an empty one of a new destination means; absent: it must not be empty. */
  empty?: string;
}

/** What a kind of destination is called, and the inputs that it has. */
interface KindOfDestination {
  name: string;
  about?: string;
  url?: Asked;
  credential?: Asked;
  hasRecipients?: true;
  /** Its only recipient, who is nobody of the workspace. */
  recipient?: Asked;
  headers?: Asked;
  template?: Asked;
}

const TEMPLATE: Asked = {
  label: 'Text of a message',
  placeholder: '{{link}} {{title}}: {{what}}',
  empty: 'Empty: the text of Tocsin.',
};

const chat = (name: string, label: string, placeholder: string): KindOfDestination => ({
  ...{ name, url: { label, placeholder }, template: TEMPLATE },
});

const OF_PAGERS = 'An incident opens an alert when it begins to match what is chosen below, and closes it at its end.';

/** The kinds of the API, each with what it needs (contract: Destinations). */
const KINDS: ReadonlyMap<string, KindOfDestination> = new Map([
  ['slack', chat('Slack', 'Address of the incoming webhook', 'https://hooks.slack.com/services/…')],
  [
    'slack_app',
    {
      name: 'Slack, by its app',
      about: 'The operator has connected the workspace with a Slack. Invite the app into the channel.',
      recipient: { label: 'ID of the channel', placeholder: 'C0123ABCD' },
      template: TEMPLATE,
    },
  ],
  ['teams', chat('Microsoft Teams', 'Address of the workflow', 'https://…')],
  [
    'google_chat',
    chat('Google Chat', 'Address of the webhook of the space', 'https://chat.googleapis.com/v1/spaces/…'),
  ],
  ['discord', chat('Discord', 'Address of the webhook of the channel', 'https://discord.com/api/webhooks/…')],
  ['mattermost', chat('Mattermost', 'Address of the incoming webhook', 'https://mattermost.example.com/hooks/…')],
  [
    'ntfy',
    {
      ...chat('ntfy', 'Address of the topic', 'https://ntfy.sh/your-topic'),
      credential: { label: 'Access token', empty: 'Empty: everybody may write to the topic.' },
    },
  ],
  ['email', { name: 'Email', hasRecipients: true, template: TEMPLATE }],
  [
    'pagerduty',
    {
      name: 'PagerDuty',
      about: OF_PAGERS,
      credential: { label: 'Integration key of the Events API v2' },
      url: {
        label: 'Address',
        placeholder: 'https://events.eu.pagerduty.com/v2/enqueue',
        empty: 'Empty: that of PagerDuty in the United States.',
      },
    },
  ],
  [
    'goalert',
    {
      name: 'GoAlert',
      about: OF_PAGERS,
      url: {
        label: 'Address of the integration, with its key',
        placeholder: 'https://goalert.example.com/api/v2/generic/incoming?token=…',
      },
    },
  ],
  [
    'http',
    {
      name: 'Another system',
      url: { label: 'Address', placeholder: 'https://hooks.example.com/tocsin' },
      credential: { label: 'Key that signs the requests', empty: 'Empty: they have no signature.' },
      headers: {
        label: 'Headers, one in each line',
        placeholder: 'Authorization: Bearer …',
        empty: 'Authorization, or names that begin with X-.',
      },
      template: {
        ...TEMPLATE,
        label: 'JSON of a request',
        placeholder: '',
        empty: 'Empty: the event as the feed has it.',
      },
    },
  ],
]);

export const KIND_OPTIONS = [...KINDS].map(([kind, { name }]) => [kind, name] as const);

/** A kind that this page does not know has only a name. */
export const kindOf = (kind: string): KindOfDestination => KINDS.get(kind) ?? { name: formatName(kind) };

/** Such as `Slack · https://hooks.slack.com`. */
export const addressOf = ({ kind, url, recipients }: Destination): string =>
  [kindOf(kind).name, url, recipients.join(', ')].filter((part) => part !== '').join(' · ');
