/**
 * Starts OpenTelemetry's SDK if a setting names a collector; otherwise loads nothing. For every process, before its
 * main module: `node --import @tocsin/tracing …`.
 */
const { OTEL_EXPORTER_OTLP_ENDPOINT = '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = '' } = process.env;

if (OTEL_EXPORTER_OTLP_ENDPOINT !== '' || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== '') {
  const { startSdk } = await import('./sdk.ts');
  startSdk({ env: process.env, mainModule: process.argv[1] ?? '' });
}
