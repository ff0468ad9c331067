import { expect, test } from '@jest/globals';
import { summaryOf } from '../src/statement-spans.ts';

test.each([
  ['select "id" from "teams" where "workspace_id" = $1', 'SELECT teams'],
  ['insert into "outbox" ("body") values ($1)', 'INSERT outbox'],
  ['update "deliveries" set "status" = $1', 'UPDATE deliveries'],
  ['delete from outbox where id = any($1)', 'DELETE outbox'],
  ['with free as (select id from deliveries for update) update deliveries set x = 1', 'UPDATE deliveries'],
  ['with recursive lanes as (select id from deliveries) select id from lanes', 'SELECT deliveries'],
  ['select extract(epoch from now() - created_at) as age from "outbox"', 'SELECT outbox'],
  ['select 1', 'SELECT'],
  ['BEGIN;', 'BEGIN'],
])('the summary of %p', (sql, summary) => {
  expect(summaryOf(sql)).toBe(summary);
});
