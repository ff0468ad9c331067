import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { PARAMETERS } from '../../src/parameters.ts';
import { writeWorkspace } from '../../src/workspace/export.ts';
import { workspaceDocument } from '../../src/workspace/document.ts';
import { emptyLists, KINDS, propertiesOf } from '../../src/workspace/kinds.ts';
import type { Present } from '../../src/workspace/present.ts';
import { Mistakes, parseWorkspace } from '../../src/workspace/read-file.ts';
import { special } from './special-values.ts';

const NOTHING: Present = {
  ...{ installation_id: '', workspace: { id: 1, slug: 'acme' }, configuration: undefined },
  ...{ rows: emptyLists(), teamSlugs: new Map(), members: new Map(), ambiguous: new Set() },
  ...{ unread: new Map(), env: {} },
};

const mistakesIn = (text: string): readonly string[] => {
  try {
    parseWorkspace('a.yaml', text);
  } catch (error) {
    if (error instanceof Mistakes) return error.list;
    throw error;
  }
  return [];
};

test('every mistake is listed with line, column and property', () => {
  const text = `teams:
  - slug: payments
    nmae: Payments
    members: [{ email: ana@example.com, role: boss }]
services:
  - { slug: 404, name: Checkout }
  - name: Without a slug
fields:
  - slug: lost
    field_type: select
    config: { options: [1]}
webhooks: Ops
colour: red
`;
  expect(mistakesIn(text)).toEqual([
    'a.yaml:3:5: teams[0].nmae: Is not a property',
    expect.stringMatching(/^a\.yaml:4:47: teams\[0\]\.members\[0\]\.role: .*member/),
    'a.yaml:6:13: services[0].slug: Must be of the type string: write it in quotes',
    'a.yaml:7:5: services[1].slug: Is required',
    'a.yaml:11:25: fields[0].config.options[0]: Must be a text, or an object with value, label and color',
    'a.yaml:12:11: webhooks: Must be of the type array',
    'a.yaml:13:1: colour: Is not a property',
  ]);
});

test('what is no YAML, or is too much of it, is refused with its place', () => {
  expect(mistakesIn('teams: [a\nservices: []\n')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^a\.yaml:\d:\d+: /)]),
  );
  expect(mistakesIn('teams: []\nteams: []\n')).toEqual([expect.stringMatching(/^a\.yaml:2:1: .*unique/)]);
  expect(mistakesIn('teams: [a\n---\nteams: [{ slug: 1 }]\n---\nx: 1\n')).toEqual([
    expect.stringMatching(/^a\.yaml:[12]:\d+: /),
    'a.yaml:3:17: teams[0].slug: Must be of the type string: write it in quotes',
    'a.yaml:5:1: x: Is not a property',
  ]);
  expect(mistakesIn('teams: *none\n')).toEqual(['a.yaml:1:8: There is no anchor none']);
  for (const number of ['0.289999999999999999', '9007199254740993', '.inf', '1e999'])
    expect(mistakesIn(`fields: [{ slug: a, default_value: ${number} }]`)).toEqual([
      `a.yaml:1:36: ${number} is a number that cannot be stored as it is written`,
    ]);
  expect(mistakesIn('fields: [{ slug: a, default_value: [0.290, -1e2, 1_000, 100, -0.0, 0x1F, 5e-7, 1e21] }]')).toEqual(
    [],
  );
  expect(mistakesIn(`teams: ${'['.repeat(5_000)}`)).not.toEqual([]);
  const levels = Array.from({ length: 9 }, (_, level) => {
    const below = level === 0 ? 'x' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array.from({ length: 9 }, () => below).join(', ')}]`;
  });
  expect(mistakesIn(levels.join('\n'))).toEqual([expect.stringMatching(/^a\.yaml: cannot be read: .*alias/)]);
});

test('anchors and merges give what they stand for', () => {
  const [loaded] = parseWorkspace(
    'a.yaml',
    'services:\n  - &one { slug: a, tier: t1, tags: &tags [web] }\n  - { <<: *one, slug: b }\n  - { slug: c, tags: *tags }\n',
  );
  expect(loaded?.document.services).toEqual([
    { slug: 'a', tier: 't1', tags: ['web'] },
    { slug: 'b', tier: 't1', tags: ['web'] },
    { slug: 'c', tags: ['web'] },
  ]);
  expect(parseWorkspace('a.yaml', '# nothing\n')).toEqual([]);
});

test('a file may have several documents', () => {
  const documents = parseWorkspace('a.yaml', 'teams: [{ slug: a }]\n---\n# nothing\n---\nteams:\n  - { slug: b }\n');
  expect(documents.map(({ document }) => document)).toEqual([
    { teams: [{ slug: 'a' }] },
    {},
    { teams: [{ slug: 'b' }] },
  ]);
  expect(documents[2]?.placeOf(['teams', 0, 'slug'])).toBe('a.yaml:6:13: teams[0].slug');
});

test('a file has what the workspace has, also of values with a meaning in YAML, and is not written anew', () => {
  fc.assert(
    fc.property(fc.oneof(special, fc.jsonValue()), special, (value, before) => {
      const workspace = (default_value: unknown) => {
        const row = { slug: 'f', name: 'F', field_type: 'json', default_value, revision: 1 };
        const rows = { ...NOTHING.rows, fields: new Map([['f', row]]) };
        return (text?: string) =>
          writeWorkspace({ ...NOTHING, rows }, new Set(['fields']), {
            ...{ limits: { prune: new Set(), lostSecrets: new Set() }, file: 'a.yaml', text, note: () => undefined },
          });
      };
      // As the API gives them: no part is another's.
      const [stored, earlier] = JSON.parse(JSON.stringify([value, before]));
      const [write, other] = [workspace(stored), workspace(earlier)()];
      for (const text of [write(), write(other)]) {
        const [loaded] = parseWorkspace('a.yaml', text);
        expect(loaded?.document.fields).toHaveLength(1);
        const read: unknown = loaded?.document.fields?.[0]?.default_value ?? null;
        // Jest takes a value with the key `constructor` for another type.
        expect([read, isDeepStrictEqual(read, stored)]).toEqual([read, true]);
        expect(write(text)).toBe(text);
      }
    }),
  );
});

test('a file has every property that the API takes', () => {
  const creates = { users: 'User', teams: 'Team', services: 'Service', fields: 'CustomField' } as const;
  for (const [list, name] of Object.entries(creates)) {
    const kind = KINDS[list as keyof typeof creates];
    const inputs = ['create', 'update'].flatMap((verb) => Object.keys(PARAMETERS[`${verb}${name}`]?.inputs ?? {}));
    const stated = propertiesOf(kind).map((property) => kind.references[property] ?? property);
    expect([list, [kind.identity, ...stated].toSorted()]).toEqual([list, [...new Set(inputs)].toSorted()]);
  }
  // The headers of webhooks are secrets.
  const { name: _, headers: __, ...webhook } = PARAMETERS['createWebhook']?.inputs ?? {};
  expect(propertiesOf(KINDS.webhooks).toSorted()).toEqual(Object.keys(webhook).toSorted());
  const { name: ___, headers: ____, ...destination } = PARAMETERS['createDestination']?.inputs ?? {};
  const { secrets } = KINDS.destinations;
  const stated = propertiesOf(KINDS.destinations).map((property) => secrets[property] ?? property);
  expect(stated.toSorted()).toEqual(Object.keys(destination).toSorted());
  expect(workspaceDocument.shape.destinations.unwrap().element.shape.kind.unwrap().options).toEqual(
    PARAMETERS['createDestination']?.values?.['kind'],
  );
});
