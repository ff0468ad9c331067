import { describe, expect, test } from '@jest/globals';
import type { ApiDescription, ApiOperation, ApiSchema } from '../../../../gateway/src/description.ts';
import { breakingChanges } from '../../checks/compare-api.ts';
import { unnamedChanges } from '../../checks/unnamed-changes.ts';

const thing: ApiSchema = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, kind: { type: 'string', enum: ['a', 'b'] } },
  required: ['id', 'name'],
};
const newThing: ApiSchema = {
  type: 'object',
  properties: { name: { type: 'string', maxLength: 10 }, kind: { type: 'string', enum: ['a', 'b'] } },
  required: ['name'],
};

interface Parts {
  thing?: ApiSchema;
  newThing?: ApiSchema;
  operation?: Partial<ApiOperation>;
}

function description(parts: Parts = {}): ApiDescription {
  const schema = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  const create: ApiOperation = {
    operationId: 'createThing',
    'x-tocsin-scope': 'things:write',
    'x-tocsin-prerequisites': [],
    parameters: [{ name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } }],
    requestBody: { required: true, content: schema('NewThing') },
    responses: {
      201: { description: 'Success', headers: { ETag: { schema: { type: 'string' } } }, content: schema('Thing') },
    },
    ...parts.operation,
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: { '/things': { post: create } },
    components: { schemas: { Thing: parts.thing ?? thing, NewThing: parts.newThing ?? newThing } },
  };
}

const changes = (parts: Parts) => breakingChanges(description(), description(parts));
const withProperties = (schema: ApiSchema, properties: Record<string, ApiSchema>): ApiSchema => ({
  ...schema,
  properties: { ...schema.properties, ...properties },
});

describe('a change is compatible:', () => {
  test.each<[string, Parts]>([
    ['none', {}],
    ['a new property of a response', { thing: withProperties(thing, { size: { type: 'integer' } }) }],
    [
      'a new value in a response',
      { thing: withProperties(thing, { kind: { type: 'string', enum: ['a', 'b', 'c'] } }) },
    ],
    ['a new optional property of a request', { newThing: withProperties(newThing, { size: { type: 'integer' } }) }],
    ['another scope that is enough', { operation: { 'x-tocsin-scope': ['things:read', 'things:write'] } }],
    ['a higher limit', { newThing: withProperties(newThing, { name: { type: 'string', maxLength: 20 } }) }],
    [
      'a new optional parameter',
      {
        operation: {
          parameters: [
            ...(description().paths['/things']?.['post']?.parameters ?? []),
            { name: 'q', in: 'query', schema: { type: 'string' } },
          ],
        },
      },
    ],
  ])('%s', (_, parts) => {
    expect(changes(parts)).toEqual([]);
  });

  test('a new operation', () => {
    const after = description();
    after.paths['/others'] = after.paths['/things']!;
    expect(breakingChanges(description(), after)).toEqual([]);
  });
});

describe('a change breaks clients:', () => {
  test.each<[string, Parts, string]>([
    [
      'a removed property of a response',
      { thing: { ...thing, properties: { id: { type: 'integer' }, kind: { type: 'string', enum: ['a', 'b'] } } } },
      'Thing.name was removed',
    ],
    ['a property that may be absent', { thing: { ...thing, required: ['id'] } }, 'Thing.name may now be absent'],
    [
      'a property that may be null',
      { thing: withProperties(thing, { name: { type: ['string', 'null'] } }) },
      'Thing.name had the type string, now string or null',
    ],
    [
      'a new required property',
      { newThing: { ...newThing, required: ['name', 'kind'] } },
      'NewThing.kind is now required',
    ],
    [
      'a removed property of a request',
      { newThing: { ...newThing, properties: { name: { type: 'string', maxLength: 10 } } } },
      'NewThing.kind was removed',
    ],
    [
      'a lower limit',
      { newThing: withProperties(newThing, { name: { type: 'string', maxLength: 5 } }) },
      'NewThing.name maxLength is now 5',
    ],
    [
      'a value that is no longer accepted',
      { newThing: withProperties(newThing, { kind: { type: 'string', enum: ['a'] } }) },
      'NewThing.kind no longer accepts b',
    ],
    ['a removed parameter', { operation: { parameters: [] } }, 'POST /things: query parameter limit was removed'],
    [
      'a parameter that is now required',
      { operation: { parameters: [{ name: 'limit', in: 'query', required: true, schema: { type: 'integer' } }] } },
      'POST /things: query parameter limit is now required',
    ],
    ['another scope', { operation: { 'x-tocsin-scope': 'things:admin' } }, 'POST /things requires another scope'],
    [
      'another prerequisite',
      { operation: { 'x-tocsin-prerequisites': ['manage_settings'] } },
      'POST /things now requires manage_settings',
    ],
    ['another status', { operation: { responses: {} } }, 'POST /things: response 201 was removed'],
    ['another name', { operation: { operationId: 'addThing' } }, 'POST /things is now named addThing'],
  ])('%s', (_, parts, change) => {
    expect(changes(parts)).toEqual([change]);
  });

  test('a removed operation', () => {
    expect(breakingChanges(description(), { ...description(), paths: {} })).toEqual(['POST /things was removed']);
  });
});

describe('a change that breaks clients', () => {
  const { kind, ...withoutKind } = thing.properties ?? {};
  const broken: [string, ApiDescription][] = [
    ['Thing.kind was removed', description({ thing: { ...thing, properties: withoutKind } })],
    ['NewThing.kind is now required', description({ newThing: { ...newThing, required: ['name', 'kind'] } })],
    ['POST /things was removed', { ...description(), paths: {} }],
    [
      'NewThing.kind no longer accepts b',
      description({ newThing: withProperties(newThing, { kind: { ...kind, enum: ['a'] } }) }),
    ],
  ];
  const unnamed = (after: ApiDescription, changelog: string) =>
    unnamedChanges(breakingChanges(description(), after), changelog);

  test.each(broken)('must be in the changelog: %s', (change, after) => {
    expect(unnamed(after, '# Changelog\n\n## Unreleased\n\n- Much has changed.\n')).toEqual([change]);
  });

  test.each(broken)('may be in the changelog, also on two lines: %s', (change, after) => {
    const span = `\`${change.replace(' ', '\n  ')}\``;
    expect(unnamed(after, `# Changelog\n\n## Unreleased\n\n- ${span}: nobody uses it.\n`)).toEqual([]);
  });

  test('counts only in what is unreleased, and in all of its words', () => {
    const change = 'NewThing.name maxLength is now 5';
    const after = description({ newThing: withProperties(newThing, { name: { type: 'string', maxLength: 5 } }) });
    expect(unnamed(after, `## Unreleased\n\n- \`${change}0\`\n\n## 0.1.0 - 2026-12-01\n\n- \`${change}\`\n`)).toEqual([
      change,
    ]);
  });
});
