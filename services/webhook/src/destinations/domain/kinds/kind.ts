import type { Address, Destination } from '../destination.ts';
import type { Described } from '../describe-event.ts';

/** How a receiver takes texts. */
export interface Markup {
  /** Characters of the texts of one message, less than what the receiver takes. */
  limit: number;
  /** Makes a text of one line that somebody wrote a text without any markup. */
  escape(text: string): string;
  /** @param label is escaped, and the address is of Tocsin */
  link(label: string, address: string): string;
}

/** An event that passes the filters, with its text if the kind has texts. */
export interface Item extends Described {
  text: string;
}

/** What is sent at once. */
export type Message =
  | { kind: 'http'; url: string; headers?: Readonly<Record<string, string>>; body: string }
  | { kind: 'mail'; to: readonly string[]; subject: string; text: string }
  | { kind: 'slack'; workspaceId: number; channel: string; text: string };

type Need = 'required' | 'optional' | 'none';

/** A kind of destination: one file each. */
export interface KindOfDestination {
  /** What a destination of it has; `template` is of texts, unless `isJson`. */
  needs: { url: Need; credential: Need; recipients: Need; headers: Need; template: Need };
  /** Its only recipient, who is nobody of the workspace; absent: its recipients are email addresses of active users. */
  recipient?: { what: string; pattern: RegExp };
  /** The URL of destinations that name none. */
  url?: string;
  markup?: Markup;
  /** Whether several events are joined to one message. */
  joins: boolean;
  /** Whether an event means anything to the receiver, whatever the filters are; default: all do. */
  takes?(event: Described): boolean;
  message(items: readonly Item[], to: Address & Pick<Destination, 'workspaceId' | 'recipients'>): Message;
}

const CALLS = /@(?=all|channel|everyone|here)/gi;

/** Words that call everybody, in any chat. A word joiner behind the @ is not visible. */
const withoutCalls = (text: string) => text.replaceAll(CALLS, '@\u2060');

/** With a backslash before what is markup in Markdown, some of it only at the beginning. `{{` begins a date in Teams. */
export const escapeMarkdown = (text: string) =>
  withoutCalls(text)
    .replaceAll(/[\\`*_~|[\]<>]|^[-+#]/g, String.raw`\$&`)
    .replaceAll(/\{(?=\{)/g, '{\u2060');

export const escapeEntities = (text: string) =>
  withoutCalls(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A chat with an incoming webhook: its whole address is its URL. */
export const chat = ({
  body,
  urlOf = (url) => url,
  ...markup
}: Markup & {
  body: (texts: readonly string[]) => unknown;
  urlOf?: (url: string) => string;
}): KindOfDestination => ({
  needs: { url: 'required', credential: 'none', recipients: 'none', headers: 'none', template: 'optional' },
  markup,
  joins: true,
  message: (items, { url }) => ({
    kind: 'http',
    url: urlOf(url),
    body: JSON.stringify(body(items.map(({ text }) => text))),
  }),
});
