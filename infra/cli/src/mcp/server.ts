import { type Tocsin, TocsinError } from '@tocsin/sdk';
import { McpServer, type ToolAnnotations } from '@modelcontextprotocol/server';
import { messageOf } from '../describe-error.ts';
import { versionOf } from '../version.ts';
import { shorten } from './answer.ts';
import { type Tool, TOOLS } from './tools.ts';

/** The tools that a key with these scopes allows. */
export const toolsFor = (held: readonly string[]): readonly (readonly [string, Tool])[] =>
  Object.entries(TOOLS).filter(([, { scopes }]) =>
    scopes.every((alternatives) => alternatives.some((scope) => held.includes(scope))),
  );

/** A server that acts with the key of `tocsin`, for any transport. */
export function createServer(tocsin: Tocsin, tools: ReturnType<typeof toolsFor>): McpServer {
  const about = { name: 'tocsin', title: 'Tocsin', version: versionOf() };
  const server = new McpServer(about, { capabilities: { tools: { listChanged: false } } });
  for (const [name, { title, description, input, output, effect, run }] of tools) {
    const schemas = { inputSchema: input, outputSchema: output };
    const annotations = annotationsOf(effect);
    server.registerTool(name, { title, description, ...schemas, annotations }, async (given, { mcpReq }) => {
      try {
        const answer = (await run(tocsin, given, mcpReq.signal)) as Record<string, unknown>;
        return { ...textOf(answer), structuredContent: answer };
      } catch (error) {
        return { ...textOf(shorten(describe(error))), isError: true };
      }
    });
  }
  return server;
}

/** Nothing is beyond the workspace, and a repeated write has no second effect: its key or its revision refuses it. */
const annotationsOf = (effect: Tool['effect']): ToolAnnotations => ({
  readOnlyHint: effect === 'reads',
  ...(effect !== 'reads' && { destructiveHint: effect === 'changes', idempotentHint: true }),
  openWorldHint: false,
});

const textOf = (answer: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(answer) }] });

/** An error with what an agent needs to mend its call. */
function describe(error: unknown): object {
  if (!(error instanceof TocsinError)) return { message: messageOf(error) };
  const { code, message, field, details, requestId, retryable } = error;
  return { code, message, field, details, request_id: requestId, retryable };
}
