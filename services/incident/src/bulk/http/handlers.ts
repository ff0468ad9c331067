import {
  COST_HEADER,
  DomainError,
  errorBody,
  idempotently,
  invalidRequest,
  type Reply,
  REPLAYED_HEADER,
  type RequestOf,
  serviceUnavailable,
} from '@tocsin/http';
import { jsonBytes } from '@tocsin/contracts';
import { currentRequest } from '@tocsin/runtime';
import type { Incident } from '../../incidents/domain/incident.ts';
import { incidentView } from '../../incidents/http/views.ts';
import type { UpdateDependencies } from '../../incidents/update-incident.ts';
import type { BulkApi, bulkContracts } from './contracts.ts';
import type { BulkResult } from './wire.ts';
import { writeItem } from './write-item.ts';

type Request = RequestOf<(typeof bulkContracts)['bulkIncidents']>;

const MAX_OF_ONE = 2;
/** Milliseconds after which no further item is begun: the deadline leaves the last one the time of a single request. */
const MAX_TIME = 20_000;
/** Bytes of results after which no further item is begun. */
const MAX_BYTES = 2_097_152;

/** Each item is a write of its own, in the order of the request (contract: Bulk). */
export const bulkHandlers = (dependencies: UpdateDependencies): BulkApi => ({
  bulkIncidents: async (request) => {
    const { items } = request.body;
    checkRepetitions(items);
    const elapsed = stopwatch(dependencies.clock);
    const results: BulkResult[] = [];
    let bytes = 0;
    let isReplayed = false;
    let reason: string | undefined;
    for (const [index, item] of items.entries()) {
      if (elapsed() > MAX_TIME) reason ??= 'the request has taken its time';
      if (bytes > MAX_BYTES) reason ??= 'the results have reached their limit of bytes';
      const write = async () => writeOnce(dependencies, request, { index, item });
      const outcome = reason === undefined ? await write().catch(onlyFirst(index)) : undefined;
      if (outcome === undefined) reason ??= 'another request with the key is under way';
      const { status = 503, text = '' } = outcome ?? refusalOf(notTried(reason ?? ''), request);
      bytes += text.length;
      if (index === 0) isReplayed = outcome?.headers?.[REPLAYED_HEADER] === 'true';
      results.push({ index, status, [status < 400 ? 'incident' : 'error']: JSON.parse(text) as never });
    }
    return {
      body: { results },
      // The request itself costs 1.
      headers: { [COST_HEADER]: String(items.length - 1), ...(isReplayed && { [REPLAYED_HEADER]: 'true' }) },
    };
  },
});

function stopwatch(clock: UpdateDependencies['clock']): () => number {
  const start = Date.parse(clock.now());
  return () => Date.parse(clock.now()) - start;
}

/** @throws DomainError `invalid_request` naming the item with which an incident occurs too often */
function checkRepetitions(items: readonly unknown[]): void {
  const counts = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const { id } = (item ?? {}) as { id?: unknown };
    const count = (counts.get(id) ?? 0) + 1;
    if (typeof id === 'number' && count > MAX_OF_ONE) {
      throw invalidRequest(`items.${index}.id`, `Must not occur more than ${MAX_OF_ONE} times`);
    }
    counts.set(id, count);
  }
}

const notTried = (reason: string) => serviceUnavailable(`The item was not tried, because ${reason}; send it again`);

/** A key that is in use refuses the whole request, but not after it has changed something. */
const onlyFirst = (index: number) => (error: unknown) => {
  if (index === 0 || !(error instanceof DomainError) || error.code !== 'idempotency_in_progress') throw error;
  return undefined;
};

/**
 * Writes an item, once for each Idempotency-Key and place, and returns its outcome: the incident or the error (ADR 101).
 * @throws DomainError that another request uses the key, or has used it otherwise
 */
async function writeOnce(
  dependencies: UpdateDependencies,
  request: Request,
  { index, item }: { index: number; item: unknown },
): Promise<Reply<never>> {
  const { principal, requestId, routeId } = request;
  const now = dependencies.clock.now();
  const render = (incident: Incident) => JSON.stringify(incidentView(incident, now));
  // The outcome of the first item is under the name of the operation, where a look-up of the key finds it.
  const keyed = { ...request, routeId: index === 0 ? routeId : `${routeId}.${index}` };
  try {
    return await idempotently(
      dependencies.database,
      keyed,
      async (key) => {
        const work = currentRequest();
        // It is judged by itself, as a request with nothing else.
        if (work !== undefined) work.bodyBytes = jsonBytes(item);
        const outcome = key && { key, render };
        const incident = await writeItem(dependencies, { principal, requestId, item, outcome });
        return { status: 200, text: render(incident) };
      },
      isFinal,
    );
  } catch (error) {
    const refusal = request.toError(error);
    if (refusal.code.startsWith('idempotency_')) throw refusal;
    return refusalOf(refusal, request);
  }
}

/** Whether the same item again would not be tried again. */
const isFinal = ({ status, code }: DomainError) => status < 500 && status !== 429 && !code.startsWith('idempotency_');

const refusalOf = (error: DomainError, { requestId }: Request): Reply<never> => ({
  status: error.status,
  text: JSON.stringify(errorBody(error, requestId)),
});
