import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** A message of a stream that a client dispatches. */
interface StreamMessage {
  id: string;
  event: string;
  // Tests know the shape of what they send.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  data: any;
}

/** A client of server-sent events that does not connect again by itself. */
export interface StreamReader {
  readonly response: IncomingMessage;
  /** The statuses of the responses before it, such as 102. */
  readonly interim: readonly number[];
  /** Everything received so far. */
  readonly text: string;
  readonly messages: readonly StreamMessage[];
  /** The ID with which the stream is to be opened again. */
  readonly lastEventId: string | undefined;
  /** Resolves when the response has ended, with whether it was complete. */
  readonly ended: Promise<boolean>;
  close(): void;
}

/**
 * Opens a stream. Resolves with the response, whatever its status.
 * @param from the loopback address of the client
 */
export async function openEventStream(
  url: URL | string,
  headers: Record<string, string> = {},
  from = '127.0.0.1',
): Promise<StreamReader> {
  const request = get(url, {
    agent: false,
    localAddress: from,
    headers: { Accept: 'text/event-stream', ...headers },
  });
  const interim: number[] = [];
  request.on('information', ({ statusCode }) => interim.push(statusCode));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // For the rest of its life.
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  let text = '';
  let parsed = 0;
  let lastEventId: string | undefined;
  const messages: StreamMessage[] = [];
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n', parsed); end !== -1; end = text.indexOf('\n\n', parsed)) {
      const { id, event, data } = fieldsOf(text.slice(parsed, end));
      parsed = end + 2;
      lastEventId = id ?? lastEventId;
      if (data !== undefined)
        messages.push({ id: lastEventId ?? '', event: event ?? 'message', data: JSON.parse(data) as unknown });
    }
  });
  const { promise: ended, resolve } = Promise.withResolvers<boolean>();
  response.once('close', () => resolve(response.complete));
  return {
    response,
    interim,
    get text() {
      return text;
    },
    messages,
    get lastEventId() {
      return lastEventId;
    },
    ended,
    close: () => void request.destroy(),
  };
}

/** A line that begins with a colon is a comment. */
const fieldsOf = (message: string): { id?: string; event?: string; data?: string } =>
  Object.fromEntries(
    message
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
  );
