import type { InfiniteData } from '@tanstack/react-query';
import type {
  FeedEvent,
  Incident,
  IncidentSnapshot,
  ListIncidentRelationsReply,
  ListIncidentsReply,
  TimelineEventCreatedEvent,
} from '@tocsin/sdk';
import { createStore } from '../ui/store.ts';
import { tocsin } from './client.ts';
import { queryClient, refresh, refreshExactly } from './hooks.ts';

/** Whether changes arrive as they happen. */
type LiveState = 'connecting' | 'live' | 'lost';

interface Live {
  state: LiveState;
  /** Incidents that were declared since the list was read. */
  news: number;
}

const live = createStore<Live>({ state: 'connecting', news: 0 });
const set = (change: Partial<Live>): void => live.set({ ...live.get(), ...change });

export const useLive = live.useValue;
export const forgetNews = (): void => set({ news: 0 });

/** Milliseconds until the feed is followed again, after the server has refused it. */
const PAUSE = 4_000;

/** Follows the event feed while the page is visible: a browser has few connections for one host. */
export function startLive(): () => void {
  let ending = new AbortController();
  let cursor: string | undefined;
  const moveTo = (next: string) => {
    cursor = next;
    if (live.get().state !== 'live') set({ state: 'live' });
  };
  const follow = async (signal: AbortSignal) => {
    const onInterruption = () => set({ state: 'connecting' });
    const options = { after: cursor, signal, onCursor: moveTo, onInterruption };
    try {
      for await (const { event, cursor: behind } of tocsin.events.follow(options)) {
        moveTo(behind);
        apply(event);
      }
    } catch {
      if (signal.aborted) return;
      // Refused: the session may have ended, or the events behind the cursor are gone.
      set({ state: 'lost' });
      cursor = undefined;
      void refresh('/');
      const timer = window.setTimeout(open, PAUSE);
      signal.addEventListener('abort', () => window.clearTimeout(timer));
    }
  };
  const close = () => ending.abort();
  const open = () => {
    close();
    if (document.hidden) return;
    ending = new AbortController();
    void follow(ending.signal);
  };
  const onVisibility = () => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', onVisibility);
  // The next attempt of the client may be some seconds away.
  window.addEventListener('online', open);
  open();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    window.removeEventListener('online', open);
    close();
  };
}

/** Reads a timeline again after a write of this page. What its incident says of it comes as an event, while there are any. */
export async function refreshTimeline(incidentId: number): Promise<void> {
  const path = `/incidents/${incidentId}`;
  await refresh(live.get().state === 'live' ? `${path}/timeline` : path, '/incidents?');
}

/** Milliseconds in which events are collected, so that several of one change are one request. */
const COLLECTED = 200;
const old = new Set<string>();

/** Reads what these paths show again, once for all events of the moment. */
function refreshSoon(...paths: readonly string[]): void {
  if (old.size === 0) {
    window.setTimeout(() => {
      const collected = new Set(old);
      old.clear();
      void refreshExactly(collected);
    }, COLLECTED);
  }
  for (const path of paths) old.add(path);
}

/** Shows what an event has changed. */
function apply({ type, data }: FeedEvent): void {
  switch (type) {
    case 'incident.created':
    case 'incident.updated':
    case 'incident.archived':
    case 'incident.restored':
    case 'incident.imported':
      return applyIncident(type, data.incident, 'changes' in data ? (data.changes ?? []) : []);
    case 'timeline_event.created':
    case 'timeline_event.updated':
    case 'timeline_event.deleted':
    case 'timeline_event.restored':
      return applyTimeline(type, data);
    case 'follow_up.created':
    case 'follow_up.updated':
    case 'follow_up.deleted': {
      const path = `/incidents/${data.incident.id}`;
      return refreshSoon('/follow-ups', `${path}/follow-ups`, `${path}/changelog`, `${path}/postmortem`);
    }
    case 'incident.postmortem_changed': {
      const path = `/incidents/${data.incident.id}`;
      return refreshSoon('/incidents', path, `${path}/postmortem`, `${path}/changelog`);
    }
    case 'incident.update_due':
      // The page sees it by its clock.
      return undefined;
    case 'service.changed':
      return void refresh('/services');
    case 'team.changed':
      return void refresh('/teams');
    case 'custom-field.changed':
      return void refresh('/custom-fields');
  }
}

/** An event of a timeline changes only that and its history. What its incident says of it comes with an event of its own. */
function applyTimeline(type: string, { incident, timeline_event: event }: TimelineEventCreatedEvent['data']): void {
  const path = `/incidents/${incident.id}`;
  refreshSoon(`${path}/timeline`, `${path}/postmortem`);
  if (type !== 'timeline_event.created') refreshSoon(`${path}/timeline/deleted`, `${path}/changelog`);
  if (type === 'timeline_event.updated') refreshSoon(`/timeline/${event.id}/revisions`);
}

const SUMMARY = [
  'revision',
  'event_count',
  'last_event_at',
  'last_event_summary',
] as const satisfies (keyof Incident)[];

/** Changes rows where they stand: what somebody reads must not move. */
function applyIncident(type: string, snapshot: IncidentSnapshot, changes: readonly unknown[]): void {
  const path = `/incidents/${snapshot.id}`;
  const shown = queryClient.getQueryData<{ incident: Incident }>([path]);
  const isNewer = (shown?.incident.revision ?? 0) < snapshot.revision;
  if (type === 'incident.updated' && changes.length === 0) {
    const summary = Object.fromEntries(SUMMARY.map((name) => [name, snapshot[name]]));
    if (shown && isNewer) queryClient.setQueryData([path], { incident: { ...shown.incident, ...summary } });
  } else {
    refreshSoon('/incidents/statistics');
    // What this page has saved itself is shown already.
    if (type === 'incident.imported') refreshSoon(`${path}/follow-ups`, '/follow-ups');
    if (isNewer || type !== 'incident.updated')
      refreshSoon(path, `${path}/changelog`, `${path}/relations`, `${path}/provisioning`, `${path}/postmortem`);
  }
  if (type === 'incident.created' || (type === 'incident.imported' && snapshot.revision === 1))
    return set({ news: live.get().news + 1 });
  changeRows<ListIncidentsReply>(/^\/incidents(\/archived)?(\?|$)/, (page) => ({
    ...page,
    incidents: page.incidents.map((row) =>
      row.id === snapshot.id && row.revision < snapshot.revision ? { ...row, ...propertiesOfRow(row, snapshot) } : row,
    ),
  }));
  changeRows<ListIncidentRelationsReply>(/^\/incidents\/\d+\/relations$/, (page) => ({
    ...page,
    relations: page.relations.map(({ incident, ...row }) => ({
      ...row,
      incident: incident.id === snapshot.id ? { ...incident, ...propertiesOfRow(incident, snapshot) } : incident,
    })),
  }));
}

/** Changes what lists show that are read already. */
const changeRows = <Page>(path: RegExp, change: (page: Page) => Page): void =>
  void queryClient.setQueriesData<InfiniteData<Page>>(
    { predicate: ({ queryKey: [key] }) => path.test(String(key)) },
    (list) => list?.pages && { ...list, pages: list.pages.map(change) },
  );

/** The properties of the snapshot that the row has, too. */
const propertiesOfRow = (row: object, snapshot: object): Partial<Incident> =>
  Object.fromEntries(Object.entries(snapshot).filter(([name]) => name in row && name !== 'custom_fields'));
