import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { UsageError } from '../operation-parameters.ts';
import type { Call } from '../session.ts';
import { createServer, toolsFor } from './server.ts';

export interface McpFlags {
  http?: boolean;
  listen?: string;
  allowHost: readonly string[];
}

/** Serves agents until stdin, or with HTTP the process, ends. @throws UsageError */
export async function serve(call: Call, { http = false, ...flags }: McpFlags): Promise<void> {
  if (http) return (await import('./serve-http.ts')).serveHttp(call, flags);
  if (flags.listen !== undefined || flags.allowHost.length > 0)
    throw new UsageError('--listen and --allow-host need --http');
  const { signal } = call.session;
  const tocsin = await call.connect();
  const { api_key: key, workspace } = await tocsin.me.get({ signal });
  const tools = toolsFor(key.scopes);
  const ended = once(process.stdin, 'close', { signal }).catch(() => undefined);
  const handle = serveStdio(() => createServer(tocsin, tools), { onerror: ({ message }) => call.output.note(message) });
  call.output.note(`serving ${tools.length} tools of the workspace ${workspace.slug}`);
  await ended;
  await handle.close();
}
