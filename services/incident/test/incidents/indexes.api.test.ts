import { expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';

const { knex: database } = await serviceForFile();

/** What most updates change, and no list sorts by. */
const COLUMNS = [
  ...['revision', 'title', 'title_folded', 'impact_summary', 'impact_summary_folded', 'severity_mode'],
  ...['custom_fields', 'last_event_summary', 'short_title'],
];

test('no key or condition of an index names what most updates change, so that they are HOT updates', async () => {
  const indexes = await database('pg_depend as d')
    .join('pg_class as i', 'i.oid', 'd.objid')
    .join('pg_attribute as a', (on) => void on.on('a.attrelid', 'd.refobjid').andOn('a.attnum', 'd.refobjsubid'))
    .whereRaw("d.refobjid = 'incidents'::regclass and d.classid = 'pg_class'::regclass and i.relkind in ('i', 'I')")
    .select<{ index: string; column: string }[]>('i.relname as index', 'a.attname as column');
  const named = new Set(indexes.map(({ column }) => column));
  expect([named.has('status'), COLUMNS.filter((column) => named.has(column))]).toEqual([true, []]);
});
