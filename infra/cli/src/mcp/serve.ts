import { once } from 'node:events';
import { type Tocsin, TocsinError } from '@tocsin/sdk';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../describe-error.ts';
import type { Call } from '../session.ts';
import { versionOf } from '../version.ts';
import { type Tool, TOOLS } from './tools.ts';

/** Serves the tools that the key allows, until stdin ends. */
export async function serve(call: Call): Promise<void> {
  const { signal } = call.session;
  const tocsin = await call.connect();
  const { api_key: key, workspace } = await tocsin.me.get({ signal });
  const allowed = Object.entries(TOOLS).filter(([, tool]) => isAllowed(tool, key.scopes));
  const ended = once(process.stdin, 'close', { signal }).catch(() => undefined);
  const handle = serveStdio(() => createServer(tocsin, allowed), {
    onerror: ({ message }) => call.output.note(message),
  });
  call.output.note(`serving ${allowed.length} tools of the workspace ${workspace.slug}`);
  await ended;
  await handle.close();
}

const isAllowed = ({ scopes }: Tool, held: readonly string[]) =>
  scopes.every((alternatives) => alternatives.some((scope) => held.includes(scope)));

function createServer(tocsin: Tocsin, tools: readonly (readonly [string, Tool])[]): McpServer {
  const server = new McpServer({ name: 'tocsin', version: versionOf() });
  for (const [name, { description, input, isWrite, run }] of tools) {
    const annotations = { readOnlyHint: !isWrite, ...(isWrite && { destructiveHint: false, idempotentHint: true }) };
    server.registerTool(name, { description, inputSchema: input, annotations }, async (given, { mcpReq }) => {
      try {
        return textOf(JSON.stringify(await run(tocsin, given, mcpReq.signal)));
      } catch (error) {
        return { ...textOf(describe(error)), isError: true };
      }
    });
  }
  return server;
}

const textOf = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/** An error as JSON, with what an agent needs to mend its call. */
function describe(error: unknown): string {
  if (!(error instanceof TocsinError)) return JSON.stringify({ message: messageOf(error) });
  const { code, message, field, details, requestId, retryable } = error;
  return JSON.stringify({ code, message, field, details, request_id: requestId, retryable });
}
