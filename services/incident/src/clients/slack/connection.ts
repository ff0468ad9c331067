import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { ChatError } from '../chat.ts';
import { asChatError } from './faults.ts';
import { transport } from './transport.ts';

export interface SlackOptions {
  /** A bot's token. */
  token: string;
  /** The API's base URL, with or without a slash at its end; Slack's own unless given. */
  apiUrl: string | undefined;
  /** Milliseconds that a call of the port may take, however many calls of Slack it makes. */
  timeout: number;
  /** Milliseconds that Slack may take to answer one call; as long as `timeout` unless given. */
  callTimeout?: number;
}

/** Runs what a call of the port does with Slack. @throws ChatError, and nothing else */
export type SlackConnection = <Result>(work: (slack: WebClient) => Promise<Result>) => Promise<Result>;

const SLACK = 'https://slack.com/api/';
/** What fits into a header; nothing else can be a token. */
const TOKEN = /^[!-~]+$/;

const ignore = () => undefined;
/** The library's lines hold channels' names and more; what matters of them is in our errors. */
const silent: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  setLevel: ignore,
  getLevel: () => LogLevel.ERROR,
  setName: ignore,
};

export function slackConnection({
  token,
  apiUrl = SLACK,
  timeout,
  callTimeout = timeout,
}: SlackOptions): SlackConnection {
  return async (work) => {
    if (!TOKEN.test(token)) throw new ChatError('not_connected', 'This is no token');
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeout);
    const { fetch, close } = transport(apiUrl, { deadline: deadline.signal, callTimeout });
    try {
      return await work(
        new WebClient(token, { slackApiUrl: apiUrl, fetch, logger: silent, retryConfig: { retries: 0 } }),
      );
    } catch (error) {
      throw asChatError(error);
    } finally {
      clearTimeout(timer);
      close();
    }
  };
}
