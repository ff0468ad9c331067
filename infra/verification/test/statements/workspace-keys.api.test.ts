import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { testServers } from '@tocsin/testing';
import { migratedCatalog } from '../../compat/schema-baseline.ts';
import { keysWithoutWorkspace, workspaceTables } from './workspace-tables.ts';

test('each key of a table with rows of workspaces begins with the workspace', async () => {
  const { databaseUrl: serverUrl, runId } = testServers();
  const catalog = await migratedCatalog({ serverUrl, name: `tocsin_test_${runId}_${randomBytes(4).toString('hex')}` });
  expect(keysWithoutWorkspace(catalog)).toEqual([]);
  expect([...workspaceTables(catalog)].map(([schema, tables]) => [schema, tables.size > 0])).toEqual(
    expect.arrayContaining([
      ['gateway', true],
      ['webhook', true],
    ]),
  );
});

test('a table and keys without the workspace are found', () => {
  const key = (definition: string) => ({ definition, columns: [] });
  const columns = { workspace_id: { type: 'bigint' } };
  const catalog = {
    others: {},
    tables: {
      'catalog.things': {
        columns,
        constraints: {
          things_pkey: key('PRIMARY KEY (id)'),
          things_slug: key('UNIQUE (workspace_id, slug)'),
          things_team: key('FOREIGN KEY (team_id) REFERENCES catalog.teams(id)'),
          things_kind: key("CHECK ((kind = 'a'::text))"),
        },
        indexes: {
          things_token: key('CREATE UNIQUE INDEX things_token ON catalog.things USING btree (token, workspace_id)'),
          things_name: key('CREATE INDEX things_name ON catalog.things USING btree (name)'),
        },
      },
      'catalog.parts': { columns: {} },
      'catalog.inbox': { columns: {} },
    },
  };
  expect(keysWithoutWorkspace(catalog)).toEqual([
    'catalog.things: things_pkey PRIMARY KEY (id)',
    'catalog.things: things_team FOREIGN KEY (team_id) REFERENCES catalog.teams(id)',
    'catalog.things: things_token CREATE UNIQUE INDEX things_token ON catalog.things USING btree (token, workspace_id)',
    'catalog.parts has no workspace_id',
  ]);
});
