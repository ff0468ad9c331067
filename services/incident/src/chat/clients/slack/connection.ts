import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { ChatError } from '../chat.ts';
import { toChatError } from './errors.ts';
import { transport } from './transport.ts';

export interface SlackOptions {
  /** A bot's token. */
  token: string;
  /** The API's base URL, with or without a trailing slash; default: Slack's. */
  apiUrl: string | undefined;
  /** Milliseconds for one call of the port, including all its requests to Slack. */
  timeout: number;
  /** Milliseconds for one request to Slack; default: `timeout`. */
  callTimeout?: number;
  /** Cancels the current call. */
  signal?: AbortSignal | undefined;
}

/** Runs one call of the port with a Slack client. @throws ChatError and no other error */
export type SlackConnection = <Result>(work: (slack: WebClient) => Promise<Result>) => Promise<Result>;

const SLACK_API_URL = 'https://slack.com/api/';
/** The characters that a header can carry without spaces. */
const TOKEN_PATTERN = /^[!-~]+$/;

const ignore = () => undefined;
/** The library logs channel names and other customer data; our errors contain what is needed. */
const SILENT_LOGGER: Logger = {
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
  apiUrl = SLACK_API_URL,
  timeout,
  callTimeout = timeout,
  signal,
}: SlackOptions): SlackConnection {
  return async (work) => {
    if (!TOKEN_PATTERN.test(token)) throw new ChatError('not_connected', 'The token is malformed');
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeout);
    const cancellation = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    const { fetch, close } = transport(apiUrl, { deadline: cancellation, callTimeout });
    try {
      return await work(
        new WebClient(token, { slackApiUrl: apiUrl, fetch, logger: SILENT_LOGGER, retryConfig: { retries: 0 } }),
      );
    } catch (error) {
      throw toChatError(error);
    } finally {
      clearTimeout(timer);
      close();
    }
  };
}
