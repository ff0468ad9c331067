import type { RequestListener } from 'node:http';
import { type HttpServer, listen, openPrincipalVerifier } from '@tocsin/http';
import { httpApp, type HttpAppOptions } from '@tocsin/http/app';
import { createLogger, createMetrics } from '@tocsin/runtime';
import { TEST_SECRET_KEYS } from './principals.ts';

/** The HTTP API of a service that only the gateway calls, with these routes. */
export const testApp = ({ name = 'test', ...options }: Partial<HttpAppOptions> & { name?: string }): RequestListener =>
  httpApp({
    routes: [],
    readinessChecks: [],
    principals: openPrincipalVerifier({ secretKeys: TEST_SECRET_KEYS, audience: name, callers: [] }),
    log: createLogger({ app: name, level: process.env.TEST_LOG ?? 'silent' }),
    metrics: createMetrics(name),
    ...options,
  });

/** Serves requests on a loopback address, by default on a free port. */
export const serve = async (
  handler: RequestListener,
  options: { port?: number; stallTimeout?: number | undefined } = {},
): Promise<HttpServer> => listen(handler, { host: '127.0.0.1', port: 0, ...options });
