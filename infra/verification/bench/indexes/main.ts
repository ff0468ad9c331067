/**
 * `npm run bench:indexes`: measures what a new incident pays for each index of `incidents`, on the database of
 * DATABASE_URL, which must be set. Seeds an empty database first; takes the flags of `npm run seed`. Which lists use an
 * index is in docs/performance-list.md.
 */
import type pg from 'pg';
import { runScript } from '../../../run-script.ts';
import { withClient } from '../../../databases.ts';
import { environment } from '../../../environment.ts';
import { namedDatabases } from '../../../migrate/named-databases.ts';
import { readSize } from '../../seed/size.ts';
import { ensureSeeded } from '../list/ensure-seeded.ts';

/** Rows of one measurement, copies of existing ones. */
const ROWS = 10_000;
/** The lowest of so many counts: everything else that the machine does only adds. */
const ROUNDS = 5;

interface Index {
  name: string;
  definition: string;
  mebibytes: number;
}

const INDEXES = `
  select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition,
    pg_relation_size(indexrelid) / 1048576::float8 as mebibytes
  from pg_index where indrelid = 'incident.incidents'::regclass order by 1`;

/** Of the columns that the database does not compute. */
const COLUMNS = `
  select string_agg(quote_ident(attname), ', ' order by attnum) as names from pg_attribute
  where attrelid = 'incident.incidents'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;

/** Microseconds of a row, without some of the indexes. Nothing stays. */
async function insertTime(client: pg.Client, columns: string, without: readonly string[]): Promise<number> {
  await client.query('begin');
  try {
    for (const name of without) await client.query(`drop index ${name}`);
    await client.query(
      `create temporary table copies on commit drop as
        select ${columns} from incident.incidents order by random() limit ${ROWS}`,
    );
    await client.query(`
      update copies set id = nextval(pg_get_serial_sequence('incident.incidents', 'id')),
        number = number + 1000000000, created_at = now()`);
    const start = performance.now();
    await client.query(`insert into incident.incidents (${columns}) select ${columns} from copies`);
    return ((performance.now() - start) * 1_000) / ROWS;
  } finally {
    await client.query('rollback');
  }
}

async function run(client: pg.Client): Promise<void> {
  const { rows: indexes } = await client.query<Index>(INDEXES);
  const { rows: named } = await client.query<{ names: string }>(COLUMNS);
  const columns = named[0]?.names ?? '';
  // The primary key and unique indexes are rules, not means.
  const optional = indexes.filter(({ definition }) => !definition.startsWith('CREATE UNIQUE'));
  const variants = [[], ...optional.map(({ name }) => [name]), optional.map(({ name }) => name)];
  const times = variants.map(() => Infinity);
  // In turns, so that all get the same moods of the machine.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, without] of variants.entries()) {
      times[index] = Math.min(times[index] ?? Infinity, await insertTime(client, columns, without));
    }
  }
  const [all = 0, ...rest] = times;
  console.log(`a row with all ${indexes.length} indexes: ${all.toFixed(1)} µs`);
  for (const [index, { name, mebibytes }] of optional.entries()) {
    console.log(`${name}: ${(all - (rest[index] ?? 0)).toFixed(1)} µs, ${mebibytes.toFixed(0)} MiB`);
  }
  console.log(`a row with the primary key and the unique indexes only: ${rest.at(-1)?.toFixed(1)} µs`);
}

await runScript(async () => {
  const requested = readSize(process.argv.slice(2));
  const config = namedDatabases(environment(), console.error);
  await ensureSeeded(config, requested, console.error);
  await withClient(config.databaseUrl, run);
});
