import { currentDryRun } from '@tocsin/runtime';
import { isLoopbackAddress, isLocalName } from '@tocsin/safe-http';
import { createTransport } from 'nodemailer';
import type { AnsweredOutcome, Sender } from '../../requests/clients/sender.ts';
import type { IncidentClient } from '../../subscriptions/clients/incidents.ts';
import type { Message } from '../domain/kinds/kind.ts';

/** What came of a message; `answer` is the beginning of what the receiver said. */
export type MessageOutcome = AnsweredOutcome;

/** Sends one message of a destination. */
export type Transport = (message: Message) => Promise<MessageOutcome>;

/** The operator's mail server. */
export interface MailSettings {
  /** `smtps://user:password@host:465`, or `smtp://` with STARTTLS. */
  url: string;
  /** The address of the sender. */
  from: string;
}

/** Milliseconds for the connection, the greeting and each answer of the mail server. */
const MAIL_TIMEOUT = 10_000;

/** @param options.mail undefined: the operator has set none, and mail is not sent */
export function transport({
  sender,
  mail,
  incidents,
}: {
  sender: Sender;
  mail: MailSettings | undefined;
  incidents: Pick<IncidentClient, 'postChatMessage'>;
}): Transport {
  const timeouts = { connectionTimeout: MAIL_TIMEOUT, greetingTimeout: MAIL_TIMEOUT, socketTimeout: MAIL_TIMEOUT };
  const server =
    mail && createTransport({ url: mail.url, ...timeouts, requireTLS: isElsewhere(mail) }, { from: mail.from });
  return async (message) => {
    if (message.kind === 'http') {
      const { url, headers = {}, body } = message;
      const request = { headers: { 'content-type': 'application/json', ...headers }, body };
      const outcome = await sender.post({ url, headers: {} }, async () => request);
      return outcome.kind === 'cancelled' ? { kind: 'failure', reason: 'connection', isLocal: true } : outcome;
    }
    if (currentDryRun() !== undefined) return { kind: 'success', status: message.kind === 'mail' ? 250 : 200 };
    if (message.kind === 'slack') return postInSlack(incidents, message);
    if (server === undefined) return { kind: 'failure', reason: 'connection', isLocal: true };
    const { to, subject, text } = message;
    try {
      const { response } = await server.sendMail({ to: [...to], subject, text });
      return { kind: 'success', status: 250, answer: response };
    } catch (error) {
      return mailFailure(error as { responseCode?: number; code?: string; response?: string });
    }
  };
}

/** The statuses of HTTP that mean the same as what Slack says; without one it cannot be reached. */
const SLACK_STATUS = {
  not_connected: 401,
  channel_missing: 404,
  rate_limited: 429,
  refused: 422,
  unavailable: undefined,
};

async function postInSlack(
  incidents: Pick<IncidentClient, 'postChatMessage'>,
  { workspaceId, channel, text }: Message & { kind: 'slack' },
): Promise<MessageOutcome> {
  try {
    const { failure } = await incidents.postChatMessage({ workspace_id: workspaceId, channel, text });
    if (failure === null) return { kind: 'success', status: 200, answer: 'ok' };
    const { reason, message: answer, retry_after: seconds } = failure;
    const status = SLACK_STATUS[reason];
    if (status === undefined) return { kind: 'failure', reason: 'connection', isLocal: false, answer };
    const retryAfter = seconds === undefined ? undefined : String(seconds);
    return { kind: 'failure', reason: 'status', status, retryAfter, isLocal: false, answer };
  } catch {
    // The incident service does not answer, which says nothing of Slack.
    return { kind: 'failure', reason: 'connection', isLocal: true };
  }
}

/** Whether the password and the texts leave this machine, which they do encrypted. */
function isElsewhere({ url }: MailSettings): boolean {
  const { hostname } = new URL(url);
  return !isLocalName(hostname) && !isLoopbackAddress(hostname);
}

/** The codes of SMTP are not those of HTTP: 4xx is for now, 5xx for good. */
function mailFailure({
  responseCode: code,
  response: answer,
}: {
  responseCode?: number;
  response?: string;
}): MessageOutcome {
  if (code === undefined) return { kind: 'failure', reason: 'connection', isLocal: false };
  const said = answer === undefined ? {} : { answer };
  // The server does not know who sends, or takes no mail at all.
  const status = [530, 534, 535].includes(code) ? 401 : code >= 500 ? 422 : 503;
  return { kind: 'failure', reason: 'status', status, isLocal: false, ...said };
}
