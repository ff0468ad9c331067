import { randomBytes } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { ConfigError, type Environment, isUntrusted, ownProperty } from '@tocsin/runtime';

const SAMPLERS: Readonly<Record<string, (ratio: () => number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio()),
};
const PARENT_BASED = 'parentbased_';

/**
 * The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` describe; by default `parentbased_always_on`.
 * @throws ConfigError naming the malformed setting
 */
export function samplerFrom(env: Environment): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] ?? `${PARENT_BASED}always_on`;
  const isParentBased = name.startsWith(PARENT_BASED);
  const samplerName = isParentBased ? name.slice(PARENT_BASED.length) : name;
  const create = ownProperty(SAMPLERS, samplerName);
  if (create === undefined) {
    const names = Object.keys(SAMPLERS).flatMap((one) => [one, PARENT_BASED + one]);
    throw new ConfigError(`OTEL_TRACES_SAMPLER: must be one of ${names.join(', ')}`);
  }
  const root = create(() => ratioFrom(env));
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function ratioFrom(env: Environment): number {
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] ?? '1');
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new ConfigError('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1');
}

/**
 * Decides about the trace of a client as if it began here: neither the client's flag nor its choice of a trace ID, which
 * `traceidratio` looks at, makes the installation record more or less.
 */
export function untrustingSampler(sampler: Sampler): Sampler {
  return {
    shouldSample: (parent, traceId, ...span) =>
      isUntrusted(parent)
        ? sampler.shouldSample(trace.deleteSpan(parent), randomBytes(16).toString('hex'), ...span)
        : sampler.shouldSample(parent, traceId, ...span),
    toString: () => `Untrusting{${sampler.toString()}}`,
  };
}
