import { type OperationEntry, OPERATIONS } from '@tocsin/sdk/operations';
import { commandWords } from './command-names.ts';
import { UsageError } from './operation-parameters.ts';
import { PARAMETERS } from './parameters.ts';
import type { Call } from './session.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Described {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: { 'application/json'?: { schema: Schema } } };
  responses: Record<string, unknown>;
}

interface Description {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

const ENTRIES = Object.entries<OperationEntry>(OPERATIONS);

/** Explains an operation in the words of the server, which may be newer than this command. */
export async function describe(call: Call, words: readonly string[]): Promise<void> {
  const { output, session } = call;
  const asked = words.join(' ');
  if (asked === '') {
    const rows = ENTRIES.map(([id, { name, summary }]) => ({
      operation: id,
      command: commandWords(id, name).join(' '),
      summary,
    }));
    output.rows(rows, ['operation', 'command', 'summary']);
    output.end();
    return;
  }
  const id = ENTRIES.find(([each, { name }]) => each === asked || commandWords(each, name).join(' ') === asked)?.[0];
  const tocsin = await call.connect();
  const { body } = await tocsin.request('GET', '/api/v1/openapi.json', { signal: session.signal });
  const { paths, components } = body as Description;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId !== (id ?? asked)) continue;
      if (call.options.json === true) output.line(JSON.stringify(operation, undefined, 2));
      else
        for (const line of explain(`${method.toUpperCase()} ${path}`, operation, components.schemas)) output.line(line);
      return;
    }
  }
  throw new UsageError(`there is no operation ${asked}: tocsin describe lists all`);
}

function explain(endpoint: string, operation: Described, schemas: Description['components']['schemas']): string[] {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const entry = (OPERATIONS as Readonly<Record<string, OperationEntry>>)[id];
  const body = resolve(requestBody?.content['application/json']?.schema ?? {}, schemas);
  const inBody = Object.entries(body.properties ?? {}).map(([name, schema]) =>
    parameterLine({ name, schema: resolve(schema, schemas), isRequired: body.required?.includes(name) === true }),
  );
  const others = parameters.map(({ name, required, in: place, schema }) =>
    parameterLine({ name, schema, isRequired: required === true, place }),
  );
  const section = (title: string, lines: string[]) => (lines.length === 0 ? [] : ['', title, ...lines]);
  return [
    `${id}: ${operation.summary}`,
    endpoint,
    ...(entry?.scopes === undefined ? [] : [`scope: ${entry.scopes.join(' or ')}`]),
    ...(operation.description === undefined ? [] : ['', operation.description]),
    ...section('parameters', others),
    ...section('body', inBody),
    ...section('responses', [`  ${Object.keys(responses).join(', ')}`]),
    ...section(
      'example',
      entry === undefined ? [] : [`  tocsin ${commandWords(id, entry.name).join(' ')} ${PARAMETERS[id]?.sample ?? ''}`],
    ),
  ];
}

const resolve = (schema: Schema, schemas: Record<string, Schema>): Schema =>
  schema.$ref === undefined ? schema : { ...schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)], ...schema };

function parameterLine(options: { name: string; schema: Schema; isRequired: boolean; place?: string }): string {
  const { name, schema, isRequired, place } = options;
  const facts = [[schema.type ?? 'any'].flat().join(' or '), ...(isRequired ? ['required'] : [])];
  const values = schema.enum === undefined ? '' : ` One of ${schema.enum.join(', ')}.`;
  const where = place === undefined ? '' : ` in ${place}`;
  return `  ${name}${where} (${facts.join(', ')})${schema.description === undefined ? '' : `  ${schema.description}.`}${values}`;
}
