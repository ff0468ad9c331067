import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { workspaceDocument } from '../../src/workspace/document.ts';
import { readBackstage } from '../../src/workspace/catalogs/backstage.ts';
import { readCsv } from '../../src/workspace/catalogs/csv.ts';
import { slugOf } from '../../src/workspace/catalogs/catalog-document.ts';
import { temporaryFolder } from '../../../verification/systems/running.ts';

const CATALOG = path.join(import.meta.dirname, 'backstage-catalog');
const stream = { write: () => true };
const session = {
  ...{ env: {}, stdin: Readable.from([]), stdout: stream, stderr: stream },
  signal: new AbortController().signal,
};
const folder = temporaryFolder();
let folders = 0;

/** A folder with these files. */
async function written(files: Record<string, string | Buffer>): Promise<string> {
  const root = path.join(folder.path, String((folders += 1)));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return root;
}
const csv = async (text: string | Buffer) => readCsv(session, [path.join(await written({ 'a.csv': text }), 'a.csv')]);
const component = (metadata: string, spec = '') =>
  `apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { ${metadata} }\nspec: { ${spec} }\n`;

describe('a catalog of Backstage', () => {
  test('becomes teams, users and services', async () => {
    const { document, ignored, leftOut, placeOf } = await readBackstage(session, [CATALOG]);
    expect(workspaceDocument.parse(document)).toStrictEqual({
      users: [
        { email: 'ada@radio.example', name: 'Ada Svensson' },
        { email: 'bo@radio.example', name: 'bo.nakamura' },
      ],
      teams: [
        { slug: 'infrastructure', name: 'Infrastructure', parent: 'radio_corp' },
        {
          slug: 'platform',
          name: 'Platform & Tools',
          parent: 'infrastructure',
          members: [{ email: 'ada@radio.example' }, { email: 'bo@radio.example' }],
        },
        {
          slug: 'team_search',
          name: 'team-search',
          description: 'Finds what is asked for',
          parent: 'infrastructure',
          members: [{ email: 'ada@radio.example' }],
        },
        { slug: 'radio_corp', name: 'radio-corp', description: 'The whole company' },
      ],
      services: [
        {
          slug: 'radio_portal',
          name: 'radio-portal',
          description: 'The portal of the developers',
          tags: ['type:website', 'lifecycle:experimental'],
          owner_team: 'platform',
          observability_names: ['radio-portal'],
        },
        {
          slug: 'zip_codec',
          name: '7zip.codec',
          tags: ['type:library', 'lifecycle:production'],
          observability_names: ['7zip.codec'],
        },
        {
          slug: 'ingest',
          name: 'ingest',
          tags: ['type:service', 'lifecycle:production'],
          owner_team: 'team_search',
          observability_names: [],
        },
        {
          slug: 'batch_ingest',
          name: 'ingest',
          description: 'The same, every night',
          tags: ['type:service', 'lifecycle:deprecated'],
          owner_team: 'platform',
          observability_names: ['ingest'],
        },
        {
          slug: 'track_search',
          name: 'Track search',
          description: 'Finds tracks by title and by artist\n',
          tags: ['java', 'data', 'type:service', 'lifecycle:production', 'system:listening'],
          owner_team: 'team_search',
          observability_names: ['track-search', 'tracks'],
        },
      ],
    });
    expect(ignored).toEqual([
      'Component metadata.annotations.backstage.io/techdocs-ref (1)',
      'Component metadata.annotations.github.com/project-slug (1)',
      'Component metadata.labels (1)',
      'Component metadata.links (1)',
      'Component spec.consumesApis (1)',
      'Component spec.dependsOn (1)',
      'Component spec.owner that is no group (1)',
      'Component spec.providesApis (1)',
      'Component spec.subcomponentOf (1)',
      'Group spec.descendants (1)',
      'Group spec.members that has no User with an email address (1)',
      'Group spec.profile.email (1)',
      'Group spec.profile.picture (1)',
      'Group spec.type (4)',
      'User spec.memberOf that has no Group (1)',
    ]);
    expect(leftOut.map((what) => what.replace(/^.*:\d+:1: /, '')).toSorted()).toEqual([
      'API search-api: has no place in a workspace',
      'Domain audio: has no place in a workspace',
      'Location radio: has no place in a workspace',
      'Resource tracks-db: has no place in a workspace',
      'System listening: has no place in a workspace',
      'User robot: has no spec.profile.email',
    ]);
    expect(placeOf(['services', 4, 'owner_team'])).toBe(`${CATALOG}/components/track-search.yaml:1:1: owner_team`);
    expect(placeOf(['services', 3])).toBe(`${CATALOG}/components/ingest.yaml:12:1`);
  });

  test('is only what is in the folder, and has the form of a catalog', async () => {
    const outside = await written({ 'secret.yaml': component('name: outside') });
    const root = await written({
      'a.yaml': component('name: a'),
      'helm/deployment.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: {{ .Values.name }} }\n',
      'skeleton/catalog-info.yaml': component("name: '${{ values.name }}'"),
      'large.yml': `${component('name: large')}# ${'x'.repeat(1_048_576)}\n`,
      'node_modules/b.yaml': component('name: b'),
      '.git/c.yaml': component('name: c'),
    });
    await symlink(outside, path.join(root, 'link'));
    await symlink(path.join(outside, 'secret.yaml'), path.join(root, 'link.yaml'));
    const { document, leftOut, incomplete } = await readBackstage(session, [root]);
    expect(document.services?.map(({ slug }) => slug)).toEqual(['a']);
    expect(leftOut.map((what) => what.slice(root.length + 1))).toEqual([
      'link: is a symbolic link',
      'link.yaml: is a symbolic link',
      'large.yml: has more than 1048576 characters',
      'skeleton/catalog-info.yaml:1:1: Component ${{ values.name }}: is a template: its name has a placeholder',
    ]);
    expect([...incomplete]).toEqual(['services', 'teams', 'members']);
    const other = await readBackstage(session, [path.join(outside, 'secret.yaml'), root]);
    expect(other.document.services?.map(({ slug }) => slug)).toEqual(['outside', 'a']);
  });

  test('may have keys in quotes, flow style, JSON, and texts of other files', async () => {
    const root = await written({
      'flow.yaml':
        '{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: in-flow}, spec: {type: service}}\n',
      'json.yaml': JSON.stringify({
        ...{ apiVersion: 'backstage.io/v1beta1', kind: 'Component', metadata: { name: 'json' } },
      }).replaceAll('/', '\\/'),
      'quoted.yaml': '"apiVersion": "backstage.io/v1alpha1"\n"kind": "Component"\n"metadata":\n  "name": "quoted"\n',
      'text.yaml': component('name: text, description: { $text: ./README.md }'),
      'template.yaml':
        'apiVersion: scaffolder.backstage.io/v1beta3\nkind: Template\nmetadata: { name: new }\nspec:\n' +
        '  steps: [{ if: "${{ parameters.x }}" }]\n---\n' +
        component('name: beside'),
    });
    const { document, ignored, leftOut, incomplete } = await readBackstage(session, [root]);
    expect(document.services?.map(({ slug }) => slug)).toEqual(['in_flow', 'json', 'quoted', 'beside', 'text']);
    expect(document.services?.at(-1)).not.toHaveProperty('description');
    expect(ignored).toEqual(['Component metadata.description in another file (1)']);
    expect(leftOut).toEqual([`${root}/template.yaml:1:1: Template new: has no place in a workspace`]);
    expect([...incomplete]).toEqual([]);
  });

  const valid = component('name: kept');
  const all = ['services', 'teams', 'members'];
  test.each<[string, string, RegExp, string[]]>([
    ['bad YAML', `${component('name: a')}x: [`, /x\.yaml:5:\d+: is not YAML: /, all],
    [
      'another type',
      component('name: a, tags: web'),
      /x\.yaml:3:28: Component a: metadata\.tags: .*array/,
      ['services'],
    ],
    ['a missing name', component('title: a'), /x\.yaml:1:1: Component: metadata\.name: /, ['services']],
    [
      'a name without letters',
      component("name: '404'"),
      /x\.yaml:1:1: Component 404: Must have a letter/,
      ['services'],
    ],
    [
      'a placeholder',
      component('name: a', 'owner: "${{ values.owner }}"'),
      /Component a: has placeholders/,
      ['services'],
    ],
    ['a broken template', component('name: a').replace('spec', '{% if x %}'), /x\.yaml:4:2: is not YAML/, []],
    [
      'a kind that is inherited by all objects',
      component('name: a').replace('Component', 'constructor'),
      /constructor a: has no place in a workspace/,
      [],
    ],
    [
      'a user without an address',
      component('name: a').replace('Component', 'User'),
      /x\.yaml:1:1: User a: has no spec\.profile\.email/,
      ['members'],
    ],
    [
      'too many aliases',
      `${component('name: a')}a: &a [${'x,'.repeat(100)}]\nb: &b [${'*a,'.repeat(100)}]\nc: [${'*b,'.repeat(100)}]\n`,
      /x\.yaml:1:1: .*alias/,
      all,
    ],
  ])('leaves out %s with the place, and nothing beside it', async (_, text, message, lists) => {
    const { document, leftOut, incomplete } = await readBackstage(session, [
      await written({ 'x.yaml': text, 'y.yaml': valid }),
    ]);
    expect(leftOut).toEqual([expect.stringMatching(message)]);
    expect([...incomplete]).toEqual(lists);
    expect(document.services?.map(({ slug }) => slug)).toEqual(['kept']);
  });

  test('refuses two entities with one slug', async () => {
    const twins = component('name: a-b') + '---\n' + component('name: a.b');
    await expect(readBackstage(session, [await written({ 'x.yaml': twins })])).rejects.toThrow(
      /x\.yaml:6:1: has the same slug a_b as .*1:1$/,
    );
  });

  test('refuses a folder that is not there, or is too deep', async () => {
    await expect(readBackstage(session, ['/nowhere'])).rejects.toThrow('cannot read /nowhere');
    const deep = await written({ [`${'a/'.repeat(40)}a.yaml`]: '' });
    await expect(readBackstage(session, [deep])).rejects.toThrow('more than 30 levels');
  });
});

describe('a CSV file', () => {
  test('becomes services, by its header', async () => {
    const text =
      '\ufeffName,Owner team,Tags,Observability-names,Cost centre,description,external id\r\n' +
      'Checkout,payments,"web, critical",checkout-api,7,"Takes, ""the"" money\r\nand more",c-1\r\n' +
      ',,,,,,\r\n' +
      'Ärger über 2,null,null,,8,null,\r\n';
    for (const bytes of [text, Buffer.from(text, 'utf16le')]) {
      const { document, ignored, placeOf } = await csv(bytes);
      expect(workspaceDocument.parse(document)).toStrictEqual({
        services: [
          {
            ...{ slug: 'checkout', name: 'Checkout', owner_team: 'payments', tags: ['web', 'critical'] },
            observability_names: ['checkout-api'],
            description: 'Takes, "the" money\nand more',
            external_id: 'c-1',
          },
          { slug: 'ärger_über_2', name: 'Ärger über 2', owner_team: null, tags: [], description: null },
        ],
      });
      expect(ignored).toEqual(['column Cost centre (1)']);
      expect([placeOf(['services', 0]), placeOf(['services', 1])]).toEqual([
        expect.stringMatching(/a\.csv:2$/),
        expect.stringMatching(/a\.csv:5$/),
      ]);
    }
  });

  test('may have semicolons or tabs', async () => {
    for (const delimiter of [';', '\t']) {
      const { document } = await csv(`slug${delimiter}tags\nmail${delimiter}a,b\n`);
      expect(document).toEqual({ services: [{ slug: 'mail', tags: ['a', 'b'] }] });
    }
  });

  test.each([
    ['tier\nt1\n', /a\.csv: is no table of services: line 1: Must have slug or name, and may have slug, name, tier/],
    ['\n', /a\.csv: has no header$/],
    ['slug,Slug\na,b\n', /a\.csv: .*line 1: the column slug is there twice/],
    ['slug,name\na,A\nb\n', /a\.csv: .* on line 3/],
    ['slug,name\na,"A\nb,B\n', /a\.csv: .*[Qq]uote.* line \d/],
    ['name\n404\n', /a\.csv:2: slug: Is required/],
    ['name,tier\nA,\n"A\n",\n', /a\.csv:3: has the same slug a as .*a\.csv:2$/],
  ])('%j is refused with the line', async (text, message) => {
    await expect(csv(text)).rejects.toThrow(message);
  });
});

test.each([
  ['teams', 'Ärzte & Söhne', 'arzte_sohne'],
  ['teams', '1st-line', 'st_line'],
  ['teams', '東京', ''],
  ['services', 'Ärzte', 'ärzte'],
  ['services', '東京 API', '東京_api'],
  ['services', `${'é'.repeat(31)}_éa`, 'é'.repeat(31)],
] as const)('%s get the slug of %s', (kind, name, slug) => {
  expect(slugOf(kind, name)).toBe(slug);
});
