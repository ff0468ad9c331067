import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a process exported it. */
export interface ExportedSpan {
  /** The name of the process. */
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  /** 2: an error. */
  status: number;
  /** Milliseconds since the epoch. */
  start: number;
  end: number;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: Attribute[];
        status: { code?: number };
      }[];
    }[];
  }[];
}

/** A collector of traces: a server for OTLP over HTTP, with JSON. */
export interface TraceCollector {
  /** The settings of a process that exports its spans here, soon after they end. */
  readonly settings: Record<string, string>;
  readonly spans: ExportedSpan[];
  /** Everything that was received, as text. */
  text(): string;
  stop(): Promise<void>;
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const bodies: string[] = [];
  const spans: ExportedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const body = Buffer.concat(chunks).toString();
      bodies.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
      spans.push(...spansIn(JSON.parse(body) as Export));
      response.setHeader('Content-Type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
    spans,
    text: () => bodies.join('\n'),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const spansIn = ({ resourceSpans }: Export): ExportedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        attributes: valuesOf(span.attributes),
        status: span.status.code ?? 0,
        start: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
        end: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
      })),
    ),
  );

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** The spans below one as lines, indented, with their times in milliseconds since the first one. */
export function traceTree(spans: readonly ExportedSpan[], root: string): string {
  const begin = Math.min(...spans.map(({ start }) => start));
  const below = (parent: string, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .sort((a, b) => a.start - b.start)
      .flatMap((span) => {
        const times = `+${(span.start - begin).toFixed(1)} ms, ${(span.end - span.start).toFixed(1)} ms`;
        const failed = span.status === 2 ? ` (error: ${String(span.attributes['error.type'])})` : '';
        const line = `${'  '.repeat(depth)}${span.name}  [${span.service}, ${times}]${failed}`;
        return [line, ...below(span.spanId, depth + 1)];
      });
  return below(root, 0).join('\n');
}
