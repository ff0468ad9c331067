import { ConnectionError, TocsinError } from './errors.ts';
import type { TocsinOptions } from './options.ts';
import { openResponse } from './request.ts';
import { backoff, pause } from './retry.ts';
import { readText } from './server-sent-events.ts';

export interface ExportOptions {
  /** The cursor of the last `position` that was handled; without it, the export starts at its beginning. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Is called with each failure after which the export goes on behind the last position. */
  onInterruption?: ((error: TocsinError) => void) | undefined;
}

/** A line of an export. That of an incident is an item of `incidents.import`. */
export interface ExportLine extends Readonly<Record<string, unknown>> {
  kind: string;
}

const PATH = '/api/v1/exports/incidents';
/** Milliseconds without a line after which the connection counts as lost. */
const SILENCE = 60_000;
/** Responses in a row without a new position after which an export fails. */
const ATTEMPTS = 6;

/** See `incidents.export` of the client. */
export async function* exportLines(
  client: TocsinOptions,
  { cursor, signal, onInterruption }: ExportOptions = {},
): AsyncGenerator<ExportLine, void, undefined> {
  let position = cursor;
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const line of readResponse(client, position, signal)) {
        yield line;
        if (line.kind === 'end') return;
        if (line.kind !== 'position') continue;
        position = line['cursor'] as string;
        attempt = -1;
      }
      // A server ends a long response behind a position.
      if (attempt >= ATTEMPTS) throw new ConnectionError('timeout', 'The export makes no progress');
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TocsinError) || !error.retryable || attempt >= ATTEMPTS) throw error;
      onInterruption?.(error);
      await pause((error.retryAfter ?? 0) * 1_000 + backoff(Math.max(0, attempt)), signal);
    }
  }
}

async function* readResponse(
  client: TocsinOptions,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportLine> {
  const ending = new AbortController();
  const combined = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const request = { method: 'GET', path: PATH, query: { cursor }, isRepeatable: true };
  try {
    const headers = { Accept: 'application/x-ndjson' };
    const response = await openResponse(client, { ...request, headers }, combined);
    if (response.body === null) return;
    const onIdle = () => ending.abort();
    for await (const line of readText(response.body, { end: '\n', idle: SILENCE, onIdle })) {
      yield JSON.parse(line) as ExportLine;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof TocsinError) throw cause;
    throw new ConnectionError('connection_lost', 'The export broke off', { cause, retryable: true });
  } finally {
    ending.abort();
  }
}
