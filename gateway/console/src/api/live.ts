import type { InfiniteData } from '@tanstack/react-query';
import type { Incident, ListIncidentRelationsReply, ListIncidentsReply } from '@tocsin/sdk';
import { createStore } from '../ui/store.ts';
import { queryClient, refresh, refreshExactly } from './hooks.ts';

/** Whether changes arrive as they happen. */
export type LiveState = 'connecting' | 'live' | 'lost';

interface Live {
  state: LiveState;
  /** Incidents that were declared since the list was read. */
  news: number;
}

const live = createStore<Live>({ state: 'connecting', news: 0 });
const set = (change: Partial<Live>): void => live.set({ ...live.get(), ...change });

export const useLive = live.useValue;
export const forgetNews = (): void => set({ news: 0 });

const INCIDENT_EVENTS = ['created', 'updated', 'archived', 'restored', 'imported'].map((verb) => `incident.${verb}`);
const TIMELINE_EVENTS = ['created', 'updated', 'deleted', 'restored'].map((verb) => `timeline_event.${verb}`);
const FOLLOW_UP_EVENTS = ['follow_up.created', 'follow_up.updated', 'follow_up.deleted'];
const OTHERS: Readonly<Record<string, string>> = {
  'service.changed': '/services',
  'team.changed': '/teams',
  'custom-field.changed': '/custom-fields',
};

/** Milliseconds until another attempt, after one that the server refused. */
const PAUSE = 4_000;

/** Follows the event feed while the page is visible: a browser has few connections for one host. */
export function startLive(): () => void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  let cursor = '';
  const close = () => {
    window.clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    if (document.hidden) return;
    const opened = new EventSource(`/api/v1/events${cursor === '' ? '' : `?after=${encodeURIComponent(cursor)}`}`);
    source = opened;
    opened.onopen = () => set({ state: 'live' });
    opened.onerror = () => {
      if (opened.readyState !== EventSource.CLOSED) {
        set({ state: 'connecting' });
        return;
      }
      // Refused: the session may have ended, or the events behind the cursor are gone.
      set({ state: 'lost' });
      cursor = '';
      void refresh('/');
      timer = window.setTimeout(open, PAUSE);
    };
    const on = (type: string, handle: (data: EventData) => void) =>
      opened.addEventListener(type, (event: MessageEvent<string>) => {
        cursor = event.lastEventId;
        handle((JSON.parse(event.data) as { data: EventData }).data);
      });
    opened.onmessage = ({ lastEventId }) => (cursor = lastEventId);
    for (const type of INCIDENT_EVENTS)
      on(type, ({ incident, changes }) => incident && applyIncident(type, incident, changes ?? []));
    for (const type of TIMELINE_EVENTS) on(type, (data) => applyTimeline(type, data));
    for (const type of FOLLOW_UP_EVENTS)
      on(type, ({ incident }) => {
        const path = `/incidents/${incident?.id}`;
        refreshSoon('/follow-ups', `${path}/follow-ups`, `${path}/changelog`);
      });
    for (const [type, path] of Object.entries(OTHERS)) on(type, () => void refresh(path));
  };
  const onVisibility = () => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    close();
  };
}

/** Reads a timeline again after a write of this page. What its incident says of it comes as an event, while there are any. */
export async function refreshTimeline(incidentId: number): Promise<void> {
  const path = `/incidents/${incidentId}`;
  await refresh(live.get().state === 'live' ? `${path}/timeline` : path, '/incidents?');
}

interface EventData {
  incident?: Partial<Incident> & { id: number; revision: number };
  timeline_event?: { id: number };
  /** What somebody changed of the incident; empty if only its timeline has changed. */
  changes?: readonly unknown[];
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

type Snapshot = NonNullable<EventData['incident']>;

/** An event of a timeline changes only that and its history. What its incident says of it comes with an event of its own. */
function applyTimeline(type: string, { incident, timeline_event: event }: EventData): void {
  const path = `/incidents/${incident?.id}`;
  refreshSoon(`${path}/timeline`);
  if (type !== 'timeline_event.created') refreshSoon(`${path}/timeline/deleted`, `${path}/changelog`);
  if (type === 'timeline_event.updated') refreshSoon(`/timeline/${event?.id}/revisions`);
}

const SUMMARY = [
  'revision',
  'event_count',
  'last_event_at',
  'last_event_summary',
] as const satisfies (keyof Incident)[];

/** Changes rows where they stand: what somebody reads must not move. */
function applyIncident(type: string, snapshot: Snapshot, changes: readonly unknown[]): void {
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
      refreshSoon(path, `${path}/changelog`, `${path}/relations`, `${path}/provisioning`);
  }
  if (type === 'incident.created' || (type === 'incident.imported' && snapshot.revision === 1))
    return set({ news: live.get().news + 1 });
  changeRows<ListIncidentsReply>(/^\/incidents(\/archived)?(\?|$)/, (page) => ({
    ...page,
    incidents: page.incidents.map((row) =>
      row.id === snapshot.id && row.revision < snapshot.revision ? { ...row, ...known(row, snapshot) } : row,
    ),
  }));
  changeRows<ListIncidentRelationsReply>(/^\/incidents\/\d+\/relations$/, (page) => ({
    ...page,
    relations: page.relations.map(({ incident, ...row }) => ({
      ...row,
      incident: incident.id === snapshot.id ? { ...incident, ...known(incident, snapshot) } : incident,
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
const known = (row: object, snapshot: object): Partial<Incident> =>
  Object.fromEntries(Object.entries(snapshot).filter(([name]) => name in row && name !== 'custom_fields'));
