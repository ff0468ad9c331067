import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type OperationEntry } from '../src/operation-table.ts';
import { OPERATIONS, Tocsin } from '../src/index.ts';
import { startRecording } from './recording-server.ts';

const { server, tocsin } = await startRecording();

interface Described {
  operationId: string;
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

const APPS = ['gateway', 'services/incident', 'services/catalog', 'services/custom-field', 'services/webhook'];
const described = APPS.flatMap((folder) => {
  const text = readFileSync(new URL(`../../../${folder}/openapi.json`, import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Described>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // A stream of lines is not in the table.
      .filter(([, { responses }]) => !('application/x-ndjson' in (responses['200']?.content ?? {})))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
});

describe('the methods of the client', () => {
  test('are there for all operations of the API description, and for no others', () => {
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(
      described.map(({ operation }) => operation.operationId).toSorted(),
    );
    expect(new Set(Object.values(OPERATIONS).map(({ name }) => name)).size).toBe(described.length);
  });

  test.each(described.map((each) => [each.operation.operationId, each] as const))('%s', async (id, each) => {
    const { path, method, operation } = each;
    const client = new Tocsin({ baseUrl: server.url, token: 'tcs_test', retries: 0 });
    const parameters = operation.parameters ?? [];
    const params = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `${name} 1/2`);
    const example = operation.requestBody?.content['application/json']?.example;
    const hasQuery = parameters.some(({ name, in: place }) => place === 'query' && name !== 'validate_only');
    const entry: OperationEntry = OPERATIONS[id as keyof typeof OPERATIONS];
    const isOption = hasQuery && (operation.requestBody !== undefined || entry.item !== undefined);
    const given = entry.input === 'file' ? Buffer.from('a file') : example;
    const input = operation.requestBody === undefined ? (hasQuery && !isOption ? [{ limit: 2 }] : []) : [given];
    const query = { service: 'a b', limit: 2 };
    const options = { ifRevision: 3, idempotencyKey: 'a-key', ...(isOption && { query }) };
    const [resource = '', verb = ''] = entry.name.split('.');
    const methods = client[resource as 'incidents'] as unknown as Record<string, (...args: unknown[]) => unknown>;

    const called = methods[verb]?.(...params, ...input, options) as Promise<unknown> & {
      page?: () => Promise<unknown>;
    };
    await (called.page?.() ?? called);

    const filled = path.replaceAll(/\{(\w+)\}/g, '$1%201%2F2');
    const [request] = server.requests;
    expect(request).toMatchObject({
      method,
      path: `${filled}${isOption ? '?service=a+b&limit=2' : hasQuery ? '?limit=2' : ''}`,
      body:
        operation.requestBody === undefined ? '' : entry.input === 'file' ? 'a file' : JSON.stringify(example ?? {}),
    });
    const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
    expect(request?.headers.authorization).toBe('Bearer tcs_test');
    expect(request?.headers['idempotency-key']).toBe(headers.includes('Idempotency-Key') ? 'a-key' : undefined);
    expect(request?.headers['if-service-resource-version']).toBe(
      headers.includes('If-Service-Resource-Version') ? '3' : undefined,
    );
  });

  test('refuse a missing ID instead of naming another resource', async () => {
    await expect(tocsin.incidents.get(undefined as unknown as number)).rejects.toThrow('must be a text or a number');
  });
});
