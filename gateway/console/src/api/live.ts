import type { InfiniteData } from '@tanstack/react-query';
import type { Incident, ListIncidentsReply } from '@tocsin/sdk';
import { createStore } from '../ui/store.ts';
import { queryClient, refresh } from './hooks.ts';

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

const INCIDENT_EVENTS = ['incident.created', 'incident.updated', 'incident.archived', 'incident.restored'];
const TIMELINE_EVENTS = ['timeline_event.created', 'timeline_event.updated', 'timeline_event.deleted'];
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
    for (const type of INCIDENT_EVENTS) on(type, ({ incident }) => incident && applyIncident(type, incident));
    for (const type of TIMELINE_EVENTS)
      on(type, ({ incident }) => incident && void refresh(`/incidents/${incident.id}`));
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

interface EventData {
  incident?: Partial<Incident> & { id: number; revision: number };
}

/** Changes rows where they stand: what somebody reads must not move. */
function applyIncident(type: string, snapshot: NonNullable<EventData['incident']>): void {
  void refresh(`/incidents/${snapshot.id}`, '/incidents/statistics');
  if (type === 'incident.created') return set({ news: live.get().news + 1 });
  queryClient.setQueriesData<InfiniteData<ListIncidentsReply>>(
    { predicate: ({ queryKey: [path] }) => /^\/incidents(\/archived)?(\?|$)/.test(String(path)) },
    (list) =>
      list?.pages && {
        ...list,
        pages: list.pages.map((page) => ({
          ...page,
          incidents: page.incidents.map((row) =>
            row.id === snapshot.id && row.revision < snapshot.revision ? { ...row, ...known(row, snapshot) } : row,
          ),
        })),
      },
  );
}

/** The properties of the snapshot that the row has, too. */
const known = (row: Incident, snapshot: object): Partial<Incident> =>
  Object.fromEntries(Object.entries(snapshot).filter(([name]) => name in row && name !== 'custom_fields'));
