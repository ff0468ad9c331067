import { beforeAll, describe, expect, test } from '@jest/globals';
import SwaggerParser from '@apidevtools/swagger-parser';
import fc from '@tocsin/testing/fuzz';
import type { ErrorObject } from 'ajv';
import { z } from 'zod';
import { type ApiDescription, type ApiSchema, readPublicDescription } from '../../../../gateway/src/description.ts';
import { incidentItem } from '../../../../services/incident/src/transfer/http/wire.ts';
import { APP_NAMES } from '../../../installation/apps.ts';
import { CONTRACTS, nodesOf, REQUEST_SCHEMAS } from '../contract-schemas.ts';
import { allows, validatorOf } from './valid-bodies.ts';

let description: ApiDescription;
beforeAll(async () => {
  description = await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example');
});

test('is valid by the schema of OpenAPI, as swagger-parser reads it', async () => {
  const parsed = await SwaggerParser.validate(structuredClone(description) as never);
  expect(Object.keys(parsed.paths ?? {})).toHaveLength(Object.keys(description.paths).length);
});

test('says of what is stored trimmed that it is measured so', async () => {
  const { name } = description.components!.schemas!['NewService']!.properties!;
  expect(name).toMatchObject({ maxLength: 128, 'x-trimmed': true });
  const { newService } = await import('../../../../services/catalog/src/http/wire.ts');
  for (const [text, isAccepted] of [
    [`  ${'x'.repeat(128)}  `, true],
    [`  ${'x'.repeat(129)}`, false],
  ] as const)
    expect(newService.safeParse({ name: text }).success).toBe(isAccepted);
});

test('says at each response what is null if the request is only validated', () => {
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  const assigning = operations.filter((operation) => operation['x-null-when-validated'] !== undefined);
  expect(assigning.length).toBeGreaterThan(10);
  for (const operation of assigning) {
    const [status = ''] = Object.keys(operation.responses).filter((each) => each.startsWith('2'));
    const { description: said = '' } = operation.responses[status] ?? {};
    const [, nulls = ''] = said.split('With `validate_only=true`, these are null');
    for (const name of operation['x-null-when-validated'] as string[]) expect(nulls).toContain(`\`${name}\``);
  }
});

/** Every value of a keyword in a document. */
function valuesOf(document: unknown, keyword: string): unknown[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) => [
    ...(name === keyword && typeof value !== 'object' ? [value] : []),
    ...valuesOf(value, keyword),
  ]);
}

interface Body {
  id: string;
  schema: ApiSchema;
  example?: unknown;
}

const bodies = (): Body[] =>
  Object.values(description.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, requestBody }) => {
      const content = requestBody?.content['application/json'];
      return content === undefined ? [] : { id: operationId, ...content };
    });

test('patterns are of the syntax that JavaScript without flags, Python and RE2 share, and match whole texts', () => {
  const patterns = [...new Set(valuesOf(description, 'pattern') as string[])];
  expect(patterns.length).toBeGreaterThan(10);
  for (const pattern of patterns) {
    expect(pattern).toMatch(/^\^.*\$$/);
    // No lookaround, no named groups, no other escapes of letters; RE2 repeats a thousand times at most.
    expect(pattern).not.toMatch(/\(\?(?!:)/);
    expect(pattern.replaceAll(/\\(?:[dsStw]|x[\dA-F]{2}|[^a-zA-Z\d])/g, '')).not.toContain('\\');
    // Generators that write it between slashes escape those themselves.
    expect(pattern.replaceAll('\\\\', '')).not.toContain('\\/');
    for (const [, count] of pattern.matchAll(/\{(?:\d+,)?(\d+)\}/g)) expect(Number(count)).toBeLessThan(1_000);
    for (const flags of ['', 'u']) expect(() => new RegExp(pattern, flags)).not.toThrow();
  }
});

/** What is checked after the schema of the contract: the form of a URL, which keys are configured, and lists without an entry. */
const isCheckedLater = ({ instancePath, keyword }: Pick<ErrorObject, 'instancePath' | 'keyword'>) =>
  keyword === 'minItems' || /\/(?:url|tier|severity|status|replace\/\w+\/[^/]+)$/.test(instancePath);

const texts = REQUEST_SCHEMAS.flatMap(({ schema }) => nodesOf(schema))
  .filter(({ schema }) => schema instanceof z.ZodString)
  .map(({ path, schema }) => ({ path, schema, pattern: z.toJSONSchema(schema).pattern }))
  .filter(
    ({ path, pattern }) =>
      pattern !== undefined && !isCheckedLater({ instancePath: `/${path.replaceAll('.', '/')}`, keyword: 'pattern' }),
  );

test.each([...new Map(texts.map((text) => [text.pattern, text])).values()])(
  'the pattern $pattern of $path matches each text with one odd character that is accepted',
  ({ schema, pattern = '' }) => {
    const expression = new RegExp(pattern);
    for (let code = 0; code < 0x10000; code += 1) {
      const odd = String.fromCharCode(code);
      for (const text of [odd, `a${odd}a`, `${odd}@a.b`, `http://${odd}a`, `http://a/${odd}`]) {
        if (!expression.test(text) && schema.safeParse(text).success) throw new Error(JSON.stringify(text));
      }
    }
  },
);

test('every example of a body is valid', () => {
  for (const { id, schema, example } of bodies()) {
    const isValid = validatorOf(description, schema);
    expect([id, isValid(example), isValid.errors]).toEqual([id, true, null]);
  }
});

/** Texts in forms that are accepted somewhere, and some that are nearly so. */
const TEXTS = [
  ...['', ' ', 'a', 'A', ' a ', 'é', 'e\u0301', '😀', 'a\u200Bb', '\u0085x', '\u001Cx', '\u00A0x\uFEFF', 'a\nb\n'],
  ...['root@localhost', 'jürgen@münchen.example', 'a..b@x', '"a"@[::1]', 'a@b@c', 'a@b ', '用户@例え'],
  ...[
    'http://x',
    'HTTPS://Hooks.Example',
    'https://bücher.example/ä?b=ö#c',
    'https://a/\u001C\u0085\u00A0',
    'https:/a',
  ],
  ...['https://user:password@host:8443/', 'https://[::1]/', 'https:///', 'https://?', 'ftp://x', 'http://a b'],
  ...[
    'a_1',
    '_a',
    '1a',
    'größe',
    'сервис',
    'cafe\u0301',
    'a-b',
    'A-b',
    'ᾂ'.repeat(21).normalize('NFD'),
    'x'.repeat(64),
  ],
  ...[
    '2024-02-29T00:00:00Z',
    '2024-02-29t23:59:59.123456789-00:00',
    '2024-02-29T24:00:00Z',
    '9999-12-31T23:59:59+23:59',
  ],
  ...['2016-12-31T23:59:60Z', '2024-02-29 00:00:00Z', '0001-01-01T00:00:00-23:59', '2024-1-1', '2024-02-30T00:00:00Z'],
  ...['UTC', 'GMT', 'EUR', 'eur', '#d92d20', '1', '01', '@oncall', '@', 'checkout-war_room', 'авария-1', '-_-', 'note'],
  ...Intl.supportedValuesOf('timeZone').filter((_, index) => index % 20 === 0),
  ...[12, 64, 80, 128, 200, 254, 255, 512, 2048].flatMap((length) => ['x'.repeat(length), '😀'.repeat(length)]),
  `${'x'.repeat(254 - 10)}@x.example`,
];
const OTHERS = [
  ...[null, true, 0, -0, 1, -1, 0.5, 1e-7, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1)],
  ...[[], ['a', 'a'], [1], ['a', { value: 'a' }], [{ value: 'a' }, { value: 'a' }], {}],
  ...[{ 'X-Token': 'a b' }, { AUTHORIZATION: 'x'.repeat(1024) }, { Cookie: 'a' }, { 'x-forwarded-for': 'a' }],
];

/** Each body that differs from the example in one value; properties that the example lacks are among them. */
function* variants(example: unknown, names: readonly string[], value: unknown): Generator {
  yield value;
  if (typeof example !== 'object' || example === null) return;
  for (const name of new Set([...Object.keys(example), ...names])) {
    for (const part of variants((example as Record<string, unknown>)[name], [], value)) {
      yield Array.isArray(example)
        ? example.map((item: unknown, index) => (String(index) === name ? part : item))
        : { ...example, [name]: part };
    }
  }
}

describe('the published schema of a body accepts everything that the service accepts', () => {
  const operations = Object.entries(CONTRACTS).flatMap(([id, { body }]) => (body === undefined ? [] : { id, body }));

  test.each(operations)('$id', ({ id, body }) => {
    compare(
      body,
      bodies().find((each) => each.id === id)!,
    );
  });

  test('an item of importIncidents, which the schema of the body allows to be anything', () => {
    const { example } = bodies().find(({ id }) => id === 'importIncidents')!;
    const schema = { $ref: '#/components/schemas/ImportedIncident' };
    compare(incidentItem, { id: 'item', schema, example: (example as { incidents: unknown[] }).incidents[0] });
  });

  function compare(contract: z.ZodObject, { schema, example }: Body): void {
    const isValid = validatorOf(description, schema);
    const names = Object.keys(contract.shape);
    const odd = fc.sample(fc.string({ unit: 'binary', maxLength: 8 }), 200);
    const changed = [...TEXTS, ...odd, ...OTHERS].flatMap((value) => [...variants(example, names, value)]);
    const accepted = [example, ...changed].filter((body) => contract.safeParse(body).success);
    expect(accepted).toContain(example);
    for (const body of accepted) {
      if (allows(isValid, body) || isValid.errors!.every(isCheckedLater)) continue;
      throw new Error(`${JSON.stringify(body)} is accepted: ${JSON.stringify(isValid.errors)}`);
    }
  }
});
