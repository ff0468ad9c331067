import type { ChangelogEntry, Incident, TimelineEvent } from '@tocsin/sdk';
import { useState } from 'react';
import { useList } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { Input, Select } from '../ui/fields.tsx';
import { formatClock, formatDay, formatExact } from '../ui/format.ts';
import { Empty, Loaded, More } from '../ui/states.tsx';
import css from './activity.module.css';
import { Changes, Declared } from './changes.tsx';
import { Composer } from './composer.tsx';
import { PART } from '../incidents/describe.ts';
import { type Change, continuesRun } from './runs.ts';
import { Event } from './timeline-event.tsx';

type Entry =
  | { id: string; time: string; event: TimelineEvent }
  | { id: string; time: string; run: readonly ChangelogEntry[] }
  | { id: string; time: string; declared: Incident };

const KINDS = [
  ['all', 'Everything'],
  ['written', 'What was written'],
  ['key', 'Key events'],
  ['changes', 'Changes'],
] as const;
type Kind = (typeof KINDS)[number][0];

const ORDERS = [
  ['desc', 'Newest first'],
  ['asc', 'Oldest first'],
] as const;
type Order = (typeof ORDERS)[number][0];
const ORDER = 'activity-order';

/** Rows of a page of either list. */
const PAGE = 50;

/** What was written and changed, in one column. */
export function Activity({ incident, canEdit }: { incident: Incident; canEdit: boolean }) {
  const [kind, setKind] = useState<Kind>('all');
  const [order, setOrder] = useState<Order>(() => (localStorage.getItem(ORDER) === 'asc' ? 'asc' : 'desc'));
  const [text, setText] = useState('');
  const { query, more } = useEntries(incident, { kind, order, text });
  return (
    <section aria-label="Activity" className={css.stream}>
      {canEdit && <Composer incidentId={incident.id} />}
      <div className={css.tools}>
        <h2>Activity</h2>
        <Select bare label="What is shown" options={KINDS} value={kind} onValue={setKind} />
        <Select
          bare
          label="Order of the activity"
          options={ORDERS}
          value={order}
          onValue={(next) => {
            localStorage.setItem(ORDER, next);
            setOrder(next);
          }}
        />
        <Input bare label="Search the timeline" type="search" placeholder="Search" value={text} onValue={setText} />
      </div>
      <Loaded query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty
              title={text === '' && kind === 'written' ? 'Nothing is written down yet' : 'Nothing matches'}
              icon="search"
            />
          ) : (
            <Entries entries={entries} incident={incident} />
          )
        }
      </Loaded>
      <More isAutomatic list={more} />
    </section>
  );
}

/**
 * The entries of both lists that are known to have nothing unread between them.
 * @returns `more` reads on in the list that ends first
 */
function useEntries(incident: Incident, { kind, order, text }: { kind: Kind; order: Order; text: string }) {
  const path = `/incidents/${incident.id}`;
  const hasEvents = kind !== 'changes';
  const hasChanges = text === '' && (kind === 'all' || kind === 'changes');
  const events = useList<TimelineEvent>(`${path}/timeline`, 'events', {
    ...{ order, limit: PAGE, key_only: kind === 'key' || undefined, q: text },
  });
  const changes = useList<ChangelogEntry>(`${path}/changelog`, 'changelog', { order, limit: PAGE, new_events: false });
  const sign = order === 'asc' ? 1 : -1;
  /** How far a list is read; undefined: to its end. */
  const endOf = (time: string | undefined, hasMore: boolean) => (hasMore ? time : undefined);
  const ends = [
    hasEvents ? endOf(events.data?.rows.at(-1)?.started_at, events.hasNextPage) : undefined,
    hasChanges ? endOf(changes.data?.rows.at(-1)?.changed_at, changes.hasNextPage) : undefined,
  ];
  const compare = (a: string, b: string) => sign * (Date.parse(a) - Date.parse(b));
  const end = ends.filter((time) => time !== undefined).sort(compare)[0];

  const entries: Entry[] = [
    ...(hasEvents ? (events.data?.rows ?? []) : []).map((event) => ({
      ...{ id: `event ${event.id}`, time: event.started_at, event },
    })),
    ...(hasChanges ? (changes.data?.rows ?? []) : [])
      .map((change) => ({ ...change, changes: change.changes.filter((each) => !isShownByEvent(each, kind)) }))
      .filter((change) => change.changes.length > 0)
      .map((change) => ({ id: `change ${change.id}`, time: change.changed_at, run: [change] })),
    ...(hasChanges ? [{ id: 'declared', time: incident.created_at, declared: incident }] : []),
  ];
  const isLoading = (hasEvents && !events.data) || (hasChanges && !changes.data);
  const rows = isLoading
    ? undefined
    : foldRuns(
        entries
          .filter(({ time }) => end === undefined || compare(time, end) <= 0)
          .sort((a, b) => compare(a.time, b.time)),
      );
  return {
    query: {
      data: rows,
      error: (hasEvents ? events.error : null) ?? (hasChanges ? changes.error : null),
      refetch: () => [events.refetch(), changes.refetch()],
    },
    more: ends[1] !== undefined && ends[1] === end ? changes : hasEvents ? events : changes,
  };
}

/** A new event is an entry itself, and says that it was edited. */
function isShownByEvent({ field, from }: Change, kind: Kind): boolean {
  const [, part, , property] = PART.exec(field) ?? [];
  if (part !== 'timeline_events' || property === 'deleted_at') return false;
  return property === undefined ? from === null : kind !== 'changes';
}

/** Entries in order, with the changes of a run in one. */
function foldRuns(entries: readonly Entry[]): Entry[] {
  const folded: Entry[] = [];
  for (const entry of entries) {
    const last = folded.at(-1);
    const [next] = 'run' in entry ? entry.run : [];
    if (last !== undefined && 'run' in last && next !== undefined && continuesRun(last.run, next))
      // Named after its oldest change: newer ones come while it is read.
      folded[folded.length - 1] = {
        ...last,
        id: next.id < (last.run[0]?.id ?? 0) ? entry.id : last.id,
        run: [...last.run, next],
      };
    else folded.push(entry);
  }
  return folded;
}

const Entries = ({ entries, incident }: { entries: readonly Entry[]; incident: Incident }) => (
  <ol className={css.entries}>
    {entries.map((entry, index) => {
      const { time } = entry;
      const before = entries[index - 1]?.time;
      const isNewDay = before === undefined || formatDay(before) !== formatDay(time);
      const isNewMinute = isNewDay || formatClock(before) !== formatClock(time);
      return (
        <li key={entry.id}>
          {isNewDay && <h3 className={css.day}>{formatDay(time)}</h3>}
          <div className={css.entry}>
            <time dateTime={time} title={formatExact(time)} className={classes(css.minute, !isNewMinute && css.same)}>
              {formatClock(time)}
            </time>
            {'event' in entry ? (
              <Event event={entry.event} />
            ) : 'run' in entry ? (
              <Changes run={entry.run} incident={incident} />
            ) : (
              <Declared {...entry.declared} />
            )}
          </div>
        </li>
      );
    })}
  </ol>
);
