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
  /** Those that cannot be sent. */
  unsent: Refused[];
  /** Incidents that were begun before the end of the batch. */
  incidents: number;
}

const OUTCOMES = { unchanged: 0, updated: 0, created: 0, refused: 0 };
type Outcome = keyof typeof OUTCOMES;

/** An incident, or a part of it, that is not moved in. */
export interface Refused {
  id: string;
  field: string;
  message: string;
}

/** What became of the incidents of a part. */
export interface Part {
  /** Incidents that are sent completely, with those of the parts before. */
  completed: number;
  outcomes: readonly (readonly [id: string, outcome: Outcome])[];
  refused: readonly Refused[];
}

export interface Sent {
  outcomes: Record<Outcome, number>;
  refused: Refused[];
}

/** An incident has the last outcome of its parts. */
const RANK = Object.keys(OUTCOMES);

/**
 * Moves incidents in, one request after the other. An incident that comes in parts counts once.
 * @param options.done parts of an earlier run, whose incidents are not sent again
 * @param options.onPart is called after each request
 */
export async function send(
  tocsin: Tocsin,
  incidents: AsyncIterable<Converted>,
  options: { validateOnly: boolean; signal: AbortSignal; done?: readonly Part[]; onPart?: (part: Part) => void },
): Promise<Sent> {
  const { done = [], onPart } = options;
  const outcomes = new Map<string, Outcome>();
  // An incident that is sent again after a failure is refused for the same reasons.
  const refused = new Map<string, Refused>();
  const add = (part: Part) => {
    for (const [id, outcome] of part.outcomes) {
      const before = outcomes.get(id) ?? 'unchanged';
      outcomes.set(id, RANK.indexOf(outcome) > RANK.indexOf(before) ? outcome : before);
    }
    for (const one of part.refused) refused.set(JSON.stringify(one), one);
  };
  for (const part of done) add(part);
  for await (const { items, unsent, incidents: begun } of batchesOf(incidents, done.at(-1)?.completed ?? 0)) {
    const results = items.length === 0 ? [] : (await sendAgain(tocsin, items, options)).results;
    const named = results.map(({ index, outcome, field = '', message = '' }) => ({
      ...{ id: items[index]?.external.id ?? '', outcome: outcome as Outcome, field, message },
    }));
    const part = {
      // The last one may go on in the next request.
      completed: begun - 1,
      outcomes: [
        ...named.map(({ id, outcome }) => [id, outcome] as const),
        ...unsent.map(({ id }) => [id, 'refused'] as const),
      ],
      refused: [
        ...named.flatMap(({ outcome, ...one }) => (outcome === 'refused' ? [one] : [])),
        ...unsent.map(({ id, field, message }) => ({ id, field, message })),
      ],
    };
    add(part);
    onPart?.(part);
  }
  const counted = { ...OUTCOMES };
  for (const outcome of outcomes.values()) counted[outcome] += 1;
  return { outcomes: counted, refused: [...refused.values()] };
}

/** @param skip incidents that are left out */
async function* batchesOf(incidents: AsyncIterable<Converted>, skip: number): AsyncGenerator<Batch> {
  let batch: Batch = { items: [], unsent: [], incidents: skip };
  let [weight, bytes, count] = [0, 0, 0];
  for await (const converted of incidents) {
    count += 1;
    if (count <= skip) continue;
    batch.incidents = count;
    if ('message' in converted) {
      batch.unsent.push(converted);
      continue;
    }
    for (const item of converted.items) {
      const size = Buffer.byteLength(JSON.stringify(item));
      const itemWeight = weightOf(item);
      if (itemWeight > MAX_WEIGHT || size > MAX_BYTES) {
        const message = 'Are more than one request of a transfer takes';
        batch.unsent.push({ id: converted.id, field: 'values', message });
        break;
      }
      if (batch.items.length === MAX_ITEMS || weight + itemWeight > MAX_WEIGHT || bytes + size > MAX_BYTES) {
        yield batch;
        batch = { items: [], unsent: [], incidents: count };
        [weight, bytes] = [0, 0];
      }
      batch.items.push(item);
      weight += itemWeight;
      bytes += size;
    }
  }
  if (batch.items.length + batch.unsent.length > 0) yield batch;
}

/** A request may be repeated: what it has written already is unchanged. */
async function sendAgain(
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
