import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { expect, test } from '@jest/globals';
import { type Context, contextOfHeaders, untrusted } from '@tocsin/runtime';
import { samplerFrom, untrustingSampler } from '../src/sampler.ts';
import { serviceNameOf } from '../src/service-name.ts';

/** The ID that `traceidratio` prefers to all others. */
const LOW = `${'0'.repeat(31)}1`;
const parentOf = (flags: string): Context =>
  contextOfHeaders(`00-${LOW}-00f067aa0ba902b7-${flags}`, undefined) ?? ROOT_CONTEXT;

const samples = (env: Record<string, string>, parent: Context): boolean =>
  untrustingSampler(samplerFrom(env)).shouldSample(parent, LOW, 'GET', SpanKind.SERVER, {}, []).decision ===
  SamplingDecision.RECORD_AND_SAMPLED;

test('our own parents decide, clients do not', () => {
  const off = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
  expect([samples({}, parentOf('00')), samples(off, parentOf('01'))]).toEqual([false, true]);
  expect([samples({}, untrusted(parentOf('00'))), samples(off, untrusted(parentOf('01')))]).toEqual([true, false]);
});

test.each(['traceidratio', 'parentbased_traceidratio'])('%s does not look at the trace ID of a client', (name) => {
  const rarely = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.000001' };
  expect(samples(rarely, ROOT_CONTEXT)).toBe(true);
  expect(samples(rarely, untrusted(parentOf('01')))).toBe(false);
});

test.each([
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /^OTEL_TRACES_SAMPLER: must be one of always_on, parentbased_always_on, /],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    /^OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1$/,
  ],
])('a malformed sampler is named: %p', (env, message) => {
  expect(() => samplerFrom(env)).toThrow(message);
});

test.each([
  ['/app/services/custom-field/src/main.ts', 'tocsin-custom-field'],
  ['gateway/src/main.ts', 'tocsin-gateway'],
  ['/repo/infra/embedded/main.ts', 'tocsin'],
])('the process of %s is %s', (main, name) => {
  expect(serviceNameOf(main)).toBe(name);
});
