import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { SCOPES } from '@tocsin/schemas';
import { HTML, MARKDOWN, NDJSON } from '@tocsin/http';
import { APP_NAMES, APPS } from '../installation/apps.ts';
import { ROOT } from '../installation/environment.ts';
import type { JsonSchema } from './tolerant-schema.ts';

/** The part of an OpenAPI document that the generators read. */
interface Description {
  components: { schemas: Record<string, JsonSchema> };
  paths: Record<string, Record<string, DescribedOperation>>;
}

interface DescribedOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  deprecated?: boolean;
  parameters?: (Omit<Parameter, 'required'> & { in: 'path' | 'query' | 'header'; required?: boolean })[];
  requestBody?: { required: boolean; content: { 'application/json'?: { schema: JsonSchema; example?: unknown } } };
  responses: Record<
    string,
    {
      headers?: Record<string, unknown>;
      content?: {
        'application/json'?: { schema: JsonSchema };
        'application/x-ndjson'?: unknown;
        'text/markdown'?: unknown;
        'text/html'?: unknown;
      };
    }
  >;
  'x-tocsin-scope': string | string[];
  'x-deadline-seconds': number;
  'x-null-when-validated'?: string[];
  'x-tocsin-body-bytes'?: number;
}

export interface Parameter {
  name: string;
  required: boolean;
  description: string;
  schema: JsonSchema;
}

/** An operation of the API as clients see it. */
export type Operation = ReturnType<typeof operationOf>;

/** The resources in clients, by the noun that the IDs of their operations contain; longer nouns come first. */
const RESOURCES = [
  ['IdempotencyKey', 'idempotencyKeys'],
  ['TimelineEvent', 'timeline'],
  ['Picture', 'pictures'],
  ['FollowUp', 'followUps'],
  ['Tracker', 'trackers'],
  ['ApiKey', 'apiKeys'],
  ['AuditLog', 'auditLog'],
  ['Retention', 'retention'],
  ['Session', 'sessions'],
  ['Incident', 'incidents'],
  ['CustomField', 'customFields'],
  ['Configuration', 'configuration'],
  ['Service', 'services'],
  ['Webhook', 'webhooks'],
  ['Destination', 'destinations'],
  ['Alert', 'alerts'],
  ['Event', 'events'],
  ['Team', 'teams'],
  ['User', 'users'],
  ['SavedViews', 'savedViews'],
  ['Me', 'me'],
] as const;

/** Reads the API descriptions, which are generated before, of all apps. */
export async function readApi(): Promise<{ schemas: Record<string, JsonSchema>; operations: Operation[] }> {
  const descriptions = await Promise.all(
    APP_NAMES.map(
      async (name) =>
        JSON.parse(await readFile(path.join(ROOT, APPS[name].folder, 'openapi.json'), 'utf8')) as Description,
    ),
  );
  return {
    schemas: Object.assign({}, ...descriptions.map(({ components }) => components.schemas)) as Record<
      string,
      JsonSchema
    >,
    operations: descriptions.flatMap(({ paths }) =>
      Object.entries(paths).flatMap(([url, methods]) =>
        Object.entries(methods)
          .filter(([, described]) => !isLines(described))
          .map(([method, described]) => operationOf(method.toUpperCase(), url, described)),
      ),
    ),
  };
}

/** A stream of lines is read while it arrives: `incidents.export` of the SDK is written by hand. */
const isLines = ({ responses }: DescribedOperation): boolean => NDJSON in (responses['200']?.content ?? {});

function operationOf(method: string, url: string, described: DescribedOperation) {
  const parameters = (place: string) =>
    (described.parameters ?? [])
      .filter((parameter) => parameter.in === place && parameter.name !== 'validate_only')
      .map(({ name, required = false, description, schema }) => ({ name, required, description, schema }));
  const headers = parameters('header').map(({ name }) => name);
  const success = Object.entries(described.responses).find(([status]) => status.startsWith('2'))?.[1];
  const reply = success?.content?.['application/json']?.schema;
  const properties = Object.entries(reply?.properties ?? {});
  const query = parameters('query');
  const isPage = query.some(({ name }) => name === 'cursor');
  const body = described.requestBody?.content['application/json'];
  const isUpload = described['x-tocsin-body-bytes'] !== undefined;
  const scopes = [described['x-tocsin-scope']].flat();
  const item = 'Service-Resource-Version' in (success?.headers ?? {}) ? properties[0]?.[0] : undefined;
  return {
    id: described.operationId,
    ...namesOf(described),
    method,
    path: url,
    summary: described.summary,
    description: described.description,
    isDeprecated: described.deprecated === true,
    /** One of them is enough; empty: any key may call it. */
    scopes: scopes.length === SCOPES.length ? [] : scopes,
    /** Of the path, in its order. */
    params: parameters('path'),
    /** Without `validate_only`, which every write has. */
    query,
    /** Whether they are options: beside a body, which is the argument, and of one resource. */
    hasQueryOption: query.length > 0 && (body !== undefined || isUpload || item !== undefined),
    body: body && { schema: body.schema, required: described.requestBody?.required === true, example: body.example },
    /** The body is a file, and the response. */
    isUpload,
    isFile: reply === undefined && success?.content !== undefined,
    reply,
    /** Dotted paths of what is null in the reply to a write that is only validated. Items of lists may have null anyway. */
    assigned: (described['x-null-when-validated'] ?? []).filter((name) => !name.includes('[')),
    isKeyed: headers.includes('Idempotency-Key'),
    hasRevision: headers.includes('If-Service-Resource-Version'),
    /** The property of the response that is the one resource, and of a page that has its rows. */
    item,
    hasMarkdown: MARKDOWN in (success?.content ?? {}),
    hasHtml: HTML in (success?.content ?? {}),
    rows: isPage ? properties.find(([, { type }]) => type === 'array')?.[0] : undefined,
    /** Seconds. */
    deadline: described['x-deadline-seconds'],
  };
}

/** `createTimelineEvent` is `timeline.create`: the verb is the ID without the noun of the resource. */
function namesOf({ operationId, tags }: DescribedOperation): { resource: string; verb: string } {
  for (const [noun, resource] of RESOURCES) {
    const verb = operationId.replace(new RegExp(`${noun}s?(?=[A-Z]|$)`), '');
    if (verb !== operationId) return { resource, verb };
  }
  if (tags.includes('Configuration')) return { resource: 'configuration', verb: operationId };
  if (tags.includes('Alerts')) return { resource: 'alerts', verb: operationId };
  throw new Error(`the generator knows no resource for ${operationId}: add its noun to RESOURCES`);
}
