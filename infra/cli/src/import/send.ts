import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, type ImportedIncident, type Tocsin, TocsinError } from '@tocsin/sdk';
import { type Converted, weightOf } from './items.ts';

/** Of a request: items, bytes of JSON, and their weight. */
const MAX_ITEMS = 50;
const MAX_BYTES = 900_000;
const MAX_WEIGHT = 145_000;
const ATTEMPTS = 8;

interface Batch {
  items: ImportedIncident[];
  /** Incidents that were begun before the end of the batch. */
  incidents: number;
}

const OUTCOMES = { unchanged: 0, updated: 0, created: 0, refused: 0 };
type Outcome = keyof typeof OUTCOMES;

/** An incident, or a part of it, that is not imported. */
export interface Refused {
  id: string;
  field: string;
  message: string;
}

export interface Sent {
  outcomes: Record<Outcome, number>;
  refused: Refused[];
}

/** An incident has the last outcome of its parts. */
const RANK = Object.keys(OUTCOMES);

/**
 * Imports incidents one request after the other. An incident that comes in parts counts once.
 * @param skip incidents that an earlier run has sent
 * @param onSent is called after each request with the number of incidents that are sent completely
 */
export async function send(
  tocsin: Tocsin,
  incidents: AsyncIterable<Converted>,
  options: { validateOnly: boolean; signal: AbortSignal; skip?: number; onSent?: (incidents: number) => void },
): Promise<Sent> {
  const outcomes = new Map<string, Outcome>();
  const refused: Refused[] = [];
  const note = (id: string, outcome: Outcome) => {
    const before = outcomes.get(id) ?? 'unchanged';
    outcomes.set(id, RANK.indexOf(outcome) > RANK.indexOf(before) ? outcome : before);
  };
  const unsent = (converted: Refused) => {
    note(converted.id, 'refused');
    refused.push({ id: converted.id, field: converted.field, message: converted.message });
  };
  for await (const { items, incidents: begun } of batchesOf(incidents, options.skip ?? 0, unsent)) {
    const { results } = await importAgain(tocsin, items, options);
    for (const { index, outcome, field = '', message = '' } of results) {
      const id = items[index]?.external.id ?? '';
      note(id, outcome as Outcome);
      if (outcome === 'refused') refused.push({ id, field, message });
    }
    // The last one may go on in the next request.
    options.onSent?.(begun - 1);
  }
  const counted = { ...OUTCOMES };
  for (const outcome of outcomes.values()) counted[outcome] += 1;
  return { outcomes: counted, refused };
}

async function* batchesOf(
  incidents: AsyncIterable<Converted>,
  skip: number,
  onUnsent: (converted: Refused) => void,
): AsyncGenerator<Batch> {
  let batch: Batch = { items: [], incidents: 0 };
  let [weight, bytes, count] = [0, 0, 0];
  for await (const converted of incidents) {
    count += 1;
    if ('message' in converted) {
      onUnsent(converted);
      continue;
    }
    if (count <= skip) continue;
    for (const item of converted.items) {
      const size = Buffer.byteLength(JSON.stringify(item));
      const own = weightOf(item);
      if (own > MAX_WEIGHT || size > MAX_BYTES) {
        onUnsent({ id: converted.id, field: 'values', message: 'Are more than one request of an import takes' });
        break;
      }
      if (batch.items.length === MAX_ITEMS || weight + own > MAX_WEIGHT || bytes + size > MAX_BYTES) {
        yield batch;
        batch = { items: [], incidents: 0 };
        [weight, bytes] = [0, 0];
      }
      batch.items.push(item);
      batch.incidents = count;
      weight += own;
      bytes += size;
    }
  }
  if (batch.items.length > 0) yield batch;
}

/** An import may be repeated: what it has written already is unchanged. */
async function importAgain(
  tocsin: Tocsin,
  incidents: ImportedIncident[],
  { validateOnly, signal }: { validateOnly: boolean; signal: AbortSignal },
) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tocsin.incidents.import({ incidents }, { validateOnly, signal });
    } catch (error) {
      const isPassing =
        error instanceof ConnectionError ||
        (error instanceof TocsinError && [429, 502, 503, 504].includes(error.status ?? 0));
      if (!isPassing || attempt === ATTEMPTS) throw error;
      await delay(Math.min(60, error.retryAfter ?? 2 ** attempt / 4) * 1_000, undefined, { signal });
    }
  }
}
