import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Sampler } from '@opentelemetry/sdk-trace';
import { beforeExit, describeStartFailure, productVersion, withTimeout } from '@tocsin/runtime';
import { samplerFrom, untrustingSampler } from './sampler.ts';
import { serviceNameOf } from './service-name.ts';

/** Characters of an attribute's value: a path may be long. */
const MAX_VALUE_LENGTH = 1_024;
/** Milliseconds that a process which stops waits for the collector to accept the last spans. */
const FLUSH_TIMEOUT = 3_000;

/** The environment of this process, which the SDK reads. */
type Settings = Record<string, string | undefined>;

/**
 * Exports spans in batches, over a queue with a limit: what does not fit is dropped. The SDK reads its settings
 * (`OTEL_…`) from the environment itself, so that they are completed there. Metrics and logs are not exported: Tocsin has its own.
 */
export function startSdk({ env, mainModule }: { env: Settings; mainModule: string }): void {
  // An empty variable counts as unset, because Compose passes unset ones like that.
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('OTEL_') && value === '') Reflect.deleteProperty(env, name);
  }
  env['OTEL_SERVICE_NAME'] ??= serviceNameOf(mainModule);
  // Neither the command line nor the names of the machine and of its user.
  env['OTEL_NODE_RESOURCE_DETECTORS'] ??= 'env,serviceinstance';
  const attributes = env['OTEL_RESOURCE_ATTRIBUTES'];
  env['OTEL_RESOURCE_ATTRIBUTES'] =
    `service.version=${productVersion()}${attributes === undefined ? '' : `,${attributes}`}`;
  const sdk = new NodeSDK({
    sampler: untrustingSampler(samplerOrExit(env)),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    // Contexts and headers are those of @tocsin/runtime, with and without this SDK.
    contextManager: null as never,
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  beforeExit(async () => withTimeout(sdk.shutdown(), FLUSH_TIMEOUT, () => undefined).catch(() => undefined));
}

function samplerOrExit(env: Settings): Sampler {
  try {
    return samplerFrom(env);
  } catch (error) {
    process.stderr.write(`${describeStartFailure(error)}\n`);
    process.exit(1);
  }
}
