import { jsonBytes } from '@tocsin/schemas';
import {
  COST_HEADER,
  DomainError,
  errorBody,
  idempotently,
  type Reply,
  REPLAYED_HEADER,
  type RequestOf,
} from '@tocsin/http';
import { currentRequest } from '@tocsin/runtime';
import type { Incident } from '../../incidents/domain/incident.ts';
import { incidentView } from '../../incidents/http/views.ts';
import type { UpdateDependencies } from '../../incidents/update-incident.ts';
import { changeItem } from '../change-item.ts';
import { checkRepetitions } from '../domain/repetitions.ts';
import { type ItemResponse, runItems } from '../run-items.ts';
import type { BulkApi, bulkContracts } from './contracts.ts';
import { readItem } from './read-item.ts';
import type { BulkResult } from './wire.ts';

type Request = RequestOf<(typeof bulkContracts)['bulkIncidents']>;

type Response = ItemResponse & { headers?: Reply<never>['headers'] | undefined };

export const bulkHandlers = (dependencies: UpdateDependencies): BulkApi => ({
  bulkIncidents: async (request) => {
    const { items } = request.body;
    checkRepetitions(items);
    const responses = await runItems<Response>(items, {
      clock: dependencies.clock,
      write: async (item, index) => writeOnce(dependencies, request, { index, item }).catch(onlyFirst(index)),
      refuse: (error) => refusalOf(request.toError(error), request),
    });
    const isReplayed = responses[0]?.headers?.[REPLAYED_HEADER] === 'true';
    const results = responses.map(({ status, text }, index): BulkResult => {
      return { index, status, [status < 400 ? 'incident' : 'error']: JSON.parse(text) as never };
    });
    return {
      body: { results },
      // The request itself costs 1.
      headers: { [COST_HEADER]: String(items.length - 1), ...(isReplayed && { [REPLAYED_HEADER]: 'true' }) },
    };
  },
});

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
): Promise<Response> {
  const { principal, requestId, routeId } = request;
  const now = dependencies.clock.now();
  const responseOf = (incident: Incident) => ({
    ...{ status: 200, text: JSON.stringify(incidentView(incident, now)), revision: undefined },
  });
  // The outcome of the first item is under the name of the operation, where a look-up of the key finds it.
  const keyed = { ...request, routeId: index === 0 ? routeId : `${routeId}.${index}` };
  try {
    const {
      status = 200,
      text = '',
      headers,
    } = await idempotently(
      dependencies.database,
      keyed,
      async (key) => {
        const work = currentRequest();
        // It is judged by itself, as a request with nothing else.
        if (work !== undefined) work.bodyBytes = jsonBytes(item);
        const outcome = key && { key, responseOf };
        const command = { principal, requestId, item: readItem(item), outcome };
        return responseOf(await changeItem(dependencies, command));
      },
      isFinal,
    );
    return { status, text, headers };
  } catch (error) {
    const refusal = request.toError(error);
    if (refusal.code.startsWith('idempotency_')) throw refusal;
    return refusalOf(refusal, request);
  }
}

/** Whether the same item again would not be tried again. */
const isFinal = ({ status, code }: DomainError) => status < 500 && status !== 429 && !code.startsWith('idempotency_');

const refusalOf = (error: DomainError, { requestId }: Request): Response => ({
  status: error.status,
  text: JSON.stringify(errorBody(error, requestId)),
});
