import http from 'node:http';
import { registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';
import type { Tocsin } from '@tocsin/sdk';

// Node runs the sources of the SDK, as those of everything else here.
const hooks = registerHooks({
  resolve: (name, context, next) => next(name, { ...context, conditions: [...context.conditions, 'tocsin-source'] }),
});
const sdk = await import('@tocsin/sdk');
hooks.deregister();

/** A client of the workspace with this host, of the instance at this address. */
export const workspaceApi = ({ baseUrl, host, token }: { baseUrl: string; host: string; token: string }): Tocsin =>
  new sdk.Tocsin({ baseUrl, token, fetch: fetchAs(host) });

/** A `fetch` for the client: that of Node sends no other host than the address has, which the workspace's may not be. */
const fetchAs =
  (host: string): typeof fetch =>
  async (url, { method, headers, body, signal } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const options = {
      ...{ method, signal: signal ?? undefined, agent: false },
      headers: { ...Object.fromEntries(new Headers(headers)), host },
    };
    http.request(new URL(url), options, resolve).once('error', reject).end(body);
    const response = await promise;
    const { statusCode: status, headers: received } = response;
    const content = await text(response);
    return new Response(content === '' ? null : content, {
      ...(status !== undefined && { status }),
      headers: Object.entries(received).map(([name, value]): [string, string] => [name, String(value)]),
    });
  };
