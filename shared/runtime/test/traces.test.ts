import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import {
  contextOfHeaders,
  contextOfStored,
  createLogger,
  headersOfStored,
  inSpan,
  RequestWork,
  runForRequest,
  runInBackground,
  runInContext,
  startRequestSpan,
  startSpan,
  storableTrace,
  traceHeaders,
  traceLogFields,
} from '../src/index.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${SPAN}-01`;

const carried = (parent: unknown, state?: unknown) => traceHeaders(contextOfHeaders(parent, state));

test('valid headers are carried on; what is unknown in them is not', () => {
  expect(carried(traceparent)).toEqual({ traceparent });
  expect(carried(traceparent, 'a=1, b@c=2')).toEqual({ traceparent, tracestate: 'a=1,b@c=2' });
  expect(carried(`00-${TRACE}-${SPAN}-00`)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-00` });
  expect(carried(`cc-${TRACE}-${SPAN}-ff-later`)).toEqual({ traceparent });
});

test.each([
  undefined,
  '',
  traceparent.toUpperCase(),
  `${traceparent}-more`,
  `${traceparent}, ${traceparent}`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`,
])('the traceparent %p counts as missing', (malformed) => {
  expect(contextOfHeaders(malformed, 'a=1')).toBeUndefined();
});

test.each([
  '=1',
  'a',
  'a=1,a=2',
  `a=${'x'.repeat(600)}`,
  'a=\u0007',
  Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(),
])('the tracestate %p counts as missing', (malformed) => {
  expect(carried(traceparent, malformed)).toEqual({ traceparent });
});

test('no text breaks the reading of headers, and what is stored is short and read back', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, state) => {
      const context = contextOfHeaders(text, state) ?? contextOfHeaders(traceparent, state);
      const stored = storableTrace(context) ?? '';
      expect(stored.length).toBeLessThanOrEqual(568);
      expect(traceHeaders(contextOfStored(stored))).toEqual(headersOfStored(stored));
    }),
  );
  expect(headersOfStored(null)).toEqual({});
  expect(contextOfStored('nonsense')).toBeUndefined();
});

test('a trace belongs to the work of a request, also of its transactions, and not to background work', async () => {
  const work = new RequestWork({ holder: 1, readOnly: false, isClientGone: () => false });
  const seen = () => traceHeaders()?.traceparent;
  await runInContext(contextOfHeaders(traceparent, undefined), async () =>
    runForRequest(work, async () => {
      await Promise.resolve();
      expect(seen()).toBe(traceparent);
      expect(runInBackground(seen)).toBeUndefined();
    }),
  );
  expect(seen()).toBeUndefined();
});

test('without an SDK nothing is recorded, and the trace of the sender goes on unchanged', async () => {
  const options = { isTrusted: false };
  expect(startRequestSpan('GET', {}, options)).toBeUndefined();
  const context = startRequestSpan('GET', { traceparent }, options);
  const attributes = () => {
    throw new Error('is not called');
  };
  await runInContext(context, async () => {
    expect(startSpan({ name: 'x', kind: 'client', attributes })).toBeUndefined();
    expect(await inSpan({ name: 'x', kind: 'client', attributes }, async () => traceHeaders())).toEqual({
      traceparent,
    });
  });
});

test('log lines name the trace', () => {
  const lines: string[] = [];
  const log = createLogger({ app: 'x', level: 'info', destination: { write: (line) => void lines.push(line) } });
  runInContext(contextOfHeaders(traceparent, undefined), () => log.info({ trace: 1 }, 'in a trace'));
  log.info('outside');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ trace_id: TRACE, trace: 1, msg: 'in a trace' });
  expect(JSON.parse(lines[0] ?? '')).not.toHaveProperty('span_id');
  expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('trace_id');
  expect(traceLogFields()).toEqual({});
});
