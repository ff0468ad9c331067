import { type FollowOptions, type FollowedEvent, followEvents } from './follow-events.ts';
import type { CallOptions, TocsinOptions } from './options.ts';
import { type ApiResponse, type Query, sendRequest } from './request.ts';

/** A request of `tocsin.request`. */
export interface AnyRequest extends CallOptions {
  query?: Query | undefined;
  /** JSON, or a file: a `Blob` or a `Uint8Array`. */
  body?: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface Following {
  /**
   * Follows the event feed, over any failure of the connection, until the signal ends it: each event with the cursor
   * behind it. Store the cursor with what you make of the event, and begin behind it (`after`) the next time.
   * @throws CursorExpiredError when events behind the cursor are deleted, and other refusals
   */
  follow(options?: FollowOptions): AsyncGenerator<FollowedEvent, void, undefined>;
}

/** A client of one workspace without a method for each operation, whose table takes most of the SDK's bytes in a browser. */
export class BasicTocsin {
  readonly #options: TocsinOptions;
  readonly events: Following;

  constructor(options: TocsinOptions) {
    checkOptions(options);
    this.#options = options;
    this.events = { follow: (given) => followEvents(options, given) };
  }

  /**
   * Sends any request of the API, once unless it is a GET or has an `Idempotency-Key`.
   * @param path from `/api/v1` on
   */
  async request(
    method: string,
    path: string,
    { query, body, headers, ...options }: AnyRequest = {},
  ): Promise<ApiResponse> {
    const keys = Object.keys(headers ?? {}).map((name) => name.toLowerCase());
    const isRepeatable = ['GET', 'HEAD'].includes(method) || keys.includes('idempotency-key');
    return sendRequest(this.#options, { ...{ method, path, query, body, headers, isRepeatable, options } });
  }
}

/** JavaScript programs forget them, and unset variables are empty. @throws TypeError */
function checkOptions({ baseUrl, token }: Partial<TocsinOptions> = {}): void {
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    throw new TypeError('baseUrl must be the address of the workspace: https://acme.tocsin.example.com');
  // Nothing else can stand in a header.
  if (token !== null && (typeof token !== 'string' || !/^[!-~]+$/.test(token)))
    throw new TypeError('token must be the token of an API key: tcs_…');
}
