/**
 * `bulk` changes up to 50 incidents by one request, each as a request of its own would (contract: Bulk) (ADR 101).
 * Items run one after the other, and each commits before the next one begins: nothing stays locked between them, and a
 * refusal stops no other item. With an Idempotency-Key, each item has an outcome under its own place, that of the first
 * under the name of the operation, where a look-up of the key finds it. So the same request returns what is stored,
 * refusals included, and does what was not reached, also after a crash. When the request has taken its time, or its
 * results their bytes, no further item is begun; those are 503, and nothing of them has happened.
 */
import { serviceUnavailable } from '@tocsin/http';
import type { Clock } from '@tocsin/runtime';

/** The response that an item would have as a request of its own. */
export interface ItemResponse {
  status: number;
  text: string;
}

/** Milliseconds after which no further item is begun: the deadline leaves the last one the time of a single request. */
const MAX_TIME = 20_000;
/** Bytes of results after which no further item is begun. */
const MAX_BYTES = 2_097_152;

/**
 * Runs the items of a request one after the other, each as a write of its own (contract: Bulk), as long as there is time
 * and room for results.
 * @param write returns undefined if another request with the key has begun the items: none after it is tried, either
 * @param refuse returns the response of an item that is not tried
 */
export async function runItems<Response extends ItemResponse>(
  items: readonly unknown[],
  {
    clock,
    write,
    refuse,
  }: {
    clock: Clock;
    write: (item: unknown, index: number) => Promise<Response | undefined>;
    refuse: (error: Error) => Response;
  },
): Promise<Response[]> {
  const start = Date.parse(clock.now());
  const responses: Response[] = [];
  let bytes = 0;
  let reason: string | undefined;
  for (const [index, item] of items.entries()) {
    if (Date.parse(clock.now()) - start > MAX_TIME) reason ??= 'the request has taken its time';
    if (bytes > MAX_BYTES) reason ??= 'the results have reached their limit of bytes';
    let response = reason === undefined ? await write(item, index) : undefined;
    if (response === undefined) {
      reason ??= 'another request with the key is under way';
      response = refuse(serviceUnavailable(`The item was not tried, because ${reason}; send it again`));
    }
    bytes += response.text.length;
    responses.push(response);
  }
  return responses;
}
