import type { ChangelogEntry, Incident, TimelineEvent } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useActorOf, useList } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { compareLists, ListChange } from '../resources/conflict.tsx';
import { Input, Select } from '../ui/fields.tsx';
import { formatClock, formatDay, formatExact } from '../ui/format.ts';
import { Empty, Loaded, More } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import css from './activity.module.css';
import { Composer } from './composer.tsx';
import { PART, useDescribe } from '../incidents/describe.ts';
import { useEditedIncident } from './save-incident.tsx';
import { DeletedEvent, Event } from './timeline-event.tsx';

type Entry =
  | { id: string; time: string; event: TimelineEvent }
  | { id: string; time: string; change: ChangelogEntry }
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

/** Changes that are read for the order that the API does not have. */
const MAX_CHANGES = 1_000;
const PAGE = { desc: 30, asc: 100 };

/** What was written and changed, in one column. */
export function Activity({ incident, canEdit }: { incident: Incident; canEdit: boolean }) {
  const [kind, setKind] = useState<Kind>('all');
  const [order, setOrder] = useState<Order>(() => (localStorage.getItem(ORDER) === 'asc' ? 'asc' : 'desc'));
  const [text, setText] = useState('');
  const { query, more, isWhole } = useEntries(incident, { kind, order, text });
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
      {!isWhole && <p className={ui.hint}>The first changes are not in this order: look at the newest first.</p>}
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
      <More list={more} />
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
    ...{ order, limit: 30, key_only: kind === 'key' || undefined, q: text },
  });
  const changes = useList<ChangelogEntry>(`${path}/changelog`, 'changelog', { limit: PAGE[order] });
  const read = changes.data?.rows.length ?? 0;
  const isReadingAll = order === 'asc' && changes.hasNextPage && read < MAX_CHANGES;
  const { fetchNextPage, isFetching } = changes;
  useEffect(() => {
    if (isReadingAll && !isFetching) void fetchNextPage();
  }, [isReadingAll, isFetching, fetchNextPage]);

  const sign = order === 'asc' ? 1 : -1;
  /** How far a list is read; undefined: to its end. */
  const endOf = (time: string | undefined, hasMore: boolean) => (hasMore ? time : undefined);
  const ends = [
    hasEvents ? endOf(events.data?.rows.at(-1)?.started_at, events.hasNextPage) : undefined,
    hasChanges && order === 'desc' ? endOf(changes.data?.rows.at(-1)?.changed_at, changes.hasNextPage) : undefined,
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
      .map((change) => ({ id: `change ${change.id}`, time: change.changed_at, change })),
    ...(hasChanges ? [{ id: 'declared', time: incident.created_at, declared: incident }] : []),
  ];
  const isLoading = (hasEvents && !events.data) || (hasChanges && (!changes.data || isReadingAll));
  const rows = isLoading
    ? undefined
    : entries
        .filter(({ time }) => end === undefined || compare(time, end) <= 0)
        .sort((a, b) => compare(a.time, b.time));
  return {
    query: {
      data: rows,
      error: (hasEvents ? events.error : null) ?? (hasChanges ? changes.error : null),
      refetch: () => [events.refetch(), changes.refetch()],
    },
    more: ends[1] !== undefined && ends[1] === end ? changes : hasEvents ? events : changes,
    isWhole: order === 'desc' || !hasChanges || !changes.hasNextPage || isReadingAll,
  };
}

/** A new event is an entry itself, and says that it was edited. */
function isShownByEvent({ field, from }: ChangelogEntry['changes'][number], kind: Kind): boolean {
  const [, part, , property] = PART.exec(field) ?? [];
  if (part !== 'timeline_events' || property === 'deleted_at') return false;
  return property === undefined ? from === null : kind !== 'changes';
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
            ) : 'change' in entry ? (
              <Change entry={entry.change} incident={incident} />
            ) : (
              <Declared {...entry.declared} />
            )}
          </div>
        </li>
      );
    })}
  </ol>
);

const Declared = ({ created_by: by, created_by_key: key, human_id: id, imported_at: imported }: Incident) => (
  <p className={css.change}>
    <span className={ui.strong}>{useActorOf()(by, key)}</span> declared {id}{' '}
    {imported === null && <AsOf id={id} revision={1} />}
  </p>
);

/** Leads to the incident as it was at a revision. */
const AsOf = ({ id, revision }: { id: string; revision: number }) => (
  <Link to="/incidents/$id" params={{ id }} search={{ revision }} className={css.asOf}>
    As of here
  </Link>
);

/** What the service changes besides. */
const CONSEQUENCES = ['severity_mode', 'issue_type', 'archived_by'];

function Change({
  entry: { actor, changes, imported, api_key: key, revision },
  incident: { human_id: id },
}: {
  entry: ChangelogEntry;
  incident: Incident;
}) {
  const actorOf = useActorOf();
  const { canEdit } = useEditedIncident();
  const { label, value } = useDescribe();
  const causes = changes.filter(({ field }) => !CONSEQUENCES.includes(field));
  return (
    <div className={css.change}>
      <span className={ui.strong}>{actorOf(actor, key)}</span> {imported && <Badge>Imported</Badge>}
      {(causes.length > 0 ? causes : changes).map(({ field, from, to }) => {
        const [, part, partId, property] = PART.exec(field) ?? [];
        if (part !== undefined && (property === undefined || property === 'deleted_at')) {
          const what = part === 'follow_ups' ? 'follow-up' : 'event';
          const done = property === undefined ? (to === null ? 'deleted' : 'added') : 'restored';
          return (
            <p key={field}>
              {done} {done === 'added' ? 'a' : 'the'} {what}{' '}
              {done === 'deleted' ? <del>{value(field, from)}</del> : done === 'added' && <ins>{value(field, to)}</ins>}{' '}
              {done === 'deleted' && what === 'event' && canEdit && <DeletedEvent id={Number(partId)} />}
            </p>
          );
        }
        const lists = compareLists(from, to);
        return (
          <p key={field}>
            {label(field)}{' '}
            {lists === undefined ? (
              <>
                <del>{value(field, from)}</del> <span aria-hidden="true">→</span> <ins>{value(field, to)}</ins>
              </>
            ) : (
              <ListChange {...lists} show={(each) => value(field, each)} />
            )}
          </p>
        );
      })}{' '}
      {!imported && <AsOf id={id} revision={revision} />}
    </div>
  );
}
