import { QUEUES } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { retentionDays } from '../../../services/webhook/src/administration.ts';
import { brokerOf, queueLength } from './broker-check.ts';
import { type Check, type CheckContext, count, type Finding, note, ok, problem, some } from './check.ts';

const BATCH = 1_000;
/** The latest positions of a workspace that are compared. */
const COMPARED = 1_000;
/** Seconds after which an event that waits for the feed is late. */
const MAX_DELAY = 120;
/** Seconds by which clocks may differ. */
const MAX_SKEW = 2;
/** Days that a sweep, which runs every hour, may be late. */
const GRACE_DAYS = 1;

interface FeedWorkspace {
  workspace_id: number;
  /** Of the latest event, as it is counted. */
  position: number;
  /** The highest one that is stored. */
  highest: number;
  /** Events that are missing among the latest. */
  missing: number;
}

/**
 * Looks for positions that would be given out again, events that are missing, times that the clock has yet to reach,
 * expired events, and a feed that stands still although events wait for it.
 */
export const FEED_CHECK: Check = {
  name: 'feed',
  run: async (context) => {
    const { checked, findings } = await checkPositions(context);
    const db = context.database('webhook');
    findings.push(...(await checkTimes(db)), ...(await checkRetention(context)), ...(await checkDelay(context)));
    return findings.length === 0 ? [ok(`the feeds of ${count(checked, 'workspace')} have no gaps`)] : findings;
  },
};

async function checkPositions(context: CheckContext): Promise<{ checked: number; findings: Finding[] }> {
  const db = context.database('webhook');
  const wrong: FeedWorkspace[] = [];
  let checked = 0;
  const findings: Finding[] = [];
  for (let after = 0; ;) {
    if (context.isOver()) {
      findings.push(note(`compared ${count(checked, 'workspace')} only, for lack of time`));
      break;
    }
    const { rows } = await db.raw<{ rows: FeedWorkspace[] }>(POSITIONS, [after, BATCH, COMPARED]);
    checked += rows.length;
    after = rows.at(-1)?.workspace_id ?? after;
    wrong.push(...rows.filter(({ position, highest, missing }) => highest > position || missing > 0));
    if (rows.length < BATCH) break;
  }
  const behind = wrong.filter(({ position, highest }) => highest > position);
  const gaps = wrong.filter(({ missing }) => missing > 0);
  for (const { workspace_id: id, position, highest } of behind) {
    findings.push(
      problem(`workspace ${id}: the last position is ${position}, and there is an event at ${highest}`, async () => {
        await db('feed_workspaces')
          .where({ workspace_id: id })
          .andWhere('position', '<', highest)
          .update({
            position: highest,
            // Of the events that are there; the counts only grow.
            recorded_bytes: db.raw(
              `greatest(recorded_bytes, (
              select recorded_bytes from feed_events e where e.workspace_id = ? and e.position = ?))`,
              [id, highest],
            ),
          });
        return `workspace ${id}: positions continue after ${highest}`;
      }),
    );
  }
  if (gaps.length > 0) {
    const total = gaps.reduce((sum, { missing }) => sum + missing, 0);
    const ids = some(gaps.map(({ workspace_id: id }) => id));
    findings.push(
      problem(
        `${count(total, 'event')} missing among the latest ${COMPARED} of the workspaces ${ids}: were rows deleted by hand? Their readers should read the lists again`,
      ),
    );
  }
  return { checked, findings };
}

/** Positions have no gaps between the events that are deleted and the last one. */
const POSITIONS = `
  select w.workspace_id, w.position, coalesce(latest.position, 0) as highest,
    w.position - compared.after - stored.number as missing
  from (
    select workspace_id, position, swept from feed_workspaces
    where workspace_id > ? order by workspace_id limit ?
  ) as w
  cross join lateral (select greatest(w.swept, w.position - ?) as after) as compared
  left join lateral (
    select position from feed_events where workspace_id = w.workspace_id order by position desc limit 1
  ) as latest on true
  cross join lateral (
    select count(*) as number from feed_events
    where workspace_id = w.workspace_id and position > compared.after and position <= w.position
  ) as stored
  order by w.workspace_id`;

/** The times of a feed never decrease, so those of a clock that was set forward stay until they are reached. */
async function checkTimes(db: Knex): Promise<Finding[]> {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select workspace_id as id from feed_workspaces where recorded_at > now() + ? * interval '1 second' order by 1`,
    [MAX_SKEW],
  );
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const repair = async () => {
    for (const id of ids) {
      await db.transaction(async (trx) => {
        // As whoever records events does, so that nothing is recorded meanwhile.
        await trx('feed_workspaces').where({ workspace_id: id }).forUpdate().first('workspace_id');
        const { rows: times } = await trx.raw<{ rows: [{ now: string }] }>('select clock_timestamp() as now');
        const [{ now }] = times;
        for (const table of ['feed_events', 'feed_workspaces']) {
          await trx(table).where({ workspace_id: id }).andWhere('recorded_at', '>', now).update({ recorded_at: now });
        }
      });
    }
    return `times of the future are now, in the feeds of ${count(ids.length, 'workspace')}`;
  };
  return [
    problem(
      `the clock of the database has yet to reach times in the feeds of the workspaces ${some(ids)}: was it set forward? They are kept for longer, and new events get the same time`,
      repair,
    ),
  ];
}

async function checkRetention({ database, env }: CheckContext): Promise<Finding[]> {
  const days = retentionDays(env).feed + GRACE_DAYS;
  const { rows } = await database('webhook').raw<{ rows: object[] }>(
    `select 1 from feed_events where recorded_at < now() - ? * interval '1 day' limit 1`,
    [days],
  );
  return rows.length === 0 ? [] : [problem(`there are events of more than ${days} days: does webhook run its sweeps?`)];
}

/** The broker's own check counts consumers and messages; this one sees consumers that record nothing. */
async function checkDelay({ database, env }: CheckContext): Promise<Finding[]> {
  const broker = brokerOf(env);
  if (broker === undefined) return [];
  const waiting = (await queueLength(broker, QUEUES.webhookFeed)) ?? 0;
  if (waiting === 0) return [];
  const { rows } = await database('webhook').raw<{ rows: [{ seconds: number | null }] }>(
    'select extract(epoch from now() - max(recorded_at))::int as seconds from feed_workspaces',
  );
  const [{ seconds }] = rows;
  if (seconds !== null && seconds <= MAX_DELAY) return [];
  const since = seconds === null ? 'none has ever been recorded' : `the latest one was recorded ${seconds} s ago`;
  return [problem(`${count(waiting, 'event')} waiting in the queue, and ${since}: look at the log of webhook`)];
}
