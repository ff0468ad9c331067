import { type Egress, publicOrAllowed, type Resolve, safeHttp, systemResolver } from '@tocsin/safe-http';
import { escapeText } from '../../chat/clients/slack/messages.ts';

/** Sends an answer that only whoever has asked sees. Returns whether Slack has taken it. */
export type SendAnswer = (responseUrl: string, text: string) => Promise<boolean>;

/** Milliseconds. */
const TIMEOUT = 10_000;
/** Slack says `ok`. */
const MAX_BODY_BYTES = 65_536;
/** Characters of an answer; more of them help nobody. */
const MAX_TEXT = 3_000;

/** Where Slack takes answers. */
const HOSTS = ['hooks.slack.com', 'hooks.slack-gov.com'];

/** An answer in the form that Slack takes over the socket, too. Nothing in its text is markup or calls anybody. */
export const answerOf = (text: string) => ({
  response_type: 'ephemeral',
  replace_original: false,
  text: escapeText(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text),
  mrkdwn: false,
});

/**
 * Sends answers to the addresses that Slack names, which must be of Slack.
 * @param options.apiUrl the API instead of Slack's, whose host takes answers, too
 */
export function answers(options: {
  egress: Egress;
  apiUrl: string | undefined;
  resolve: Resolve | undefined;
  ca: string | undefined;
}): SendAnswer {
  const { egress, apiUrl, resolve = systemResolver(), ca } = options;
  const hosts = new Set(apiUrl === undefined ? HOSTS : [...HOSTS, new URL(apiUrl).hostname]);
  const http = safeHttp({ allows: publicOrAllowed(egress.allowed), resolve, ca, proxy: egress.proxy });
  return async (responseUrl, text) => {
    const url = URL.parse(responseUrl);
    if (url?.protocol !== 'https:' || !hosts.has(url.hostname)) return false;
    const body = JSON.stringify(answerOf(text));
    const prepare = async () => ({ headers: { 'content-type': 'application/json; charset=utf-8' }, body });
    const request = { url: url.href, method: 'POST', timeout: TIMEOUT, maxBodyBytes: MAX_BODY_BYTES, prepare } as const;
    const response = await http.request(request);
    return response.kind === 'response' && response.status === 200;
  };
}
