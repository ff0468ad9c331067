import {
  type GetTimelineEventReply,
  type Incident,
  type ListIncidentChangelogReply,
  type TimelineEvent,
  TocsinError,
} from '@tocsin/sdk';
import { createContext, type ReactNode, useContext } from 'react';
import { read, write } from '../api/client.ts';
import { queryClient, refresh } from '../api/hooks.ts';
import { refreshTimeline } from '../api/live.ts';
import {
  type Changed,
  type Edit,
  equal,
  resourceAt,
  type Target,
  type Values,
  useConflict,
} from '../resources/conflict.tsx';
import { ROLE, useDescribe } from '../incidents/describe.ts';
import { type Edited, EditedResource } from './editable.tsx';
import { picturesOf } from './pictures.tsx';

const valuesOf = (resource: object) => resource as Record<string, unknown>;

const FIELD = 'custom_fields.';

/** In the order in which they are compared. */
export const viewersOf = ({ visible_to: { users, teams } }: Incident): Incident['visible_to'] => ({ users, teams });

/** The properties of an incident, and its roles and custom fields as the changelog names them. */
const incidentValues = (incident: Incident) => ({
  ...valuesOf(incident),
  visible_to: viewersOf(incident),
  ...Object.fromEntries(Object.entries(incident.roles).map(([key, holders]) => [ROLE + key, holders])),
  ...Object.fromEntries(Object.entries(incident.custom_fields).map(([slug, value]) => [FIELD + slug, value])),
});

/** The body of a PATCH. */
function bodyOf(changes: Values): object {
  const [roles, others] = [true, false].map((isRole) =>
    Object.entries(changes).filter(([name]) => name.startsWith(ROLE) === isRole),
  ) as [[string, unknown][], [string, unknown][]];
  const holders = Object.fromEntries(roles.map(([name, value]) => [name.slice(ROLE.length), value]));
  return { ...Object.fromEntries(others), ...(roles.length > 0 && { roles: holders }) };
}

async function readIncident(id: number) {
  const { incident } = await read<{ incident: Incident }>(`/incidents/${id}`);
  queryClient.setQueryData([`/incidents/${id}`], { incident });
  return { values: incidentValues(incident), revision: incident.revision };
}

/** Entries of the changelog in which the last changes are looked for. */
const LOOKED_AT = 50;

/** Who changed properties last, as far as the changelog says it near its end. */
async function lastChanges(id: number, names: readonly string[]): Promise<ReadonlyMap<string, Changed>> {
  const path = `/incidents/${id}/changelog?limit=${LOOKED_AT}&new_events=false`;
  const { changelog } = await read<ListIncidentChangelogReply>(path);
  return new Map(
    changelog
      .toReversed()
      .flatMap(({ actor, api_key: apiKey, changed_at: at, changes }) =>
        changes.filter(({ field }) => names.includes(field)).map(({ field }) => [field, { actor, apiKey, at }]),
      ),
  );
}

const propertiesOf = (id: number): Target => ({
  changed: async (names) => lastChanges(id, names),
  read: async () => readIncident(id),
  write: async (changes, { revision }) => {
    const path = `/incidents/${id}`;
    const { incident } = await write<{ incident: Incident }>({
      method: 'PATCH',
      path,
      body: bodyOf(changes),
      revision,
    });
    queryClient.setQueryData([path], { incident });
    await refresh('/incidents');
  },
});

/** A write of values takes no revision, so what is stored is compared with what was shown before. */
const valueOf = (id: number): Target => ({
  changed: async (names) => lastChanges(id, names),
  read: async () => readIncident(id),
  write: async (changes, { base }) => {
    const stored = (await readIncident(id)).values as Edit['base'];
    if (Object.keys(changes).some((name) => !equal(stored[name], base[name])))
      throw new TocsinError('precondition_failed', 'Somebody else changed this meanwhile', { status: 412 });
    const values = Object.entries(changes).map(([name, value]) => ({
      slug: name.slice(FIELD.length),
      value: value ?? null,
    }));
    await write({ method: 'PATCH', path: `/incidents/${id}/custom-fields`, body: { values } });
    await refresh('/incidents');
  },
});

const eventAt = ({ id, incident_id: incidentId }: TimelineEvent): Target => {
  const event = resourceAt(`/timeline/${id}`);
  return {
    read: async () => {
      const { values, revision } = await event.read();
      const pictures = picturesOf(values as unknown as TimelineEvent);
      return { values: { ...values, attachments: pictures.map((each) => each.id) }, revision };
    },
    changed: async (names) => {
      const { event: stored } = await read<GetTimelineEventReply>(`/timeline/${id}`);
      const { edited_by: actor, edited_at: at, edited_api_key: apiKey } = stored;
      return new Map(actor === null || at === null ? [] : names.map((name) => [name, { actor, apiKey, at }]));
    },
    write: async (...edit) => {
      await event.write(...edit);
      await Promise.all([refreshTimeline(incidentId), refresh(`/timeline/${id}/revisions`)]);
    },
  };
};

/** Saves edits of one incident; each returns whether the edit is settled. @throws TocsinError */
export function useSaveIncident(id: number) {
  const { save, conflict } = useConflict(useDescribe());
  return {
    conflict,
    /** Properties, or values of custom fields. */
    save: async (edit: Edit) =>
      save(edit, Object.keys(edit.changes)[0]?.startsWith(FIELD) === true ? valueOf(id) : propertiesOf(id)),
    saveEvent: async (event: TimelineEvent, edit: Edit) => save(edit, eventAt(event)),
  };
}

/** The incident that a page shows, and how its parts save their edits. */
export interface EditedIncident extends Edited {
  id: number;
  saveEvent: (event: TimelineEvent, edit: Edit) => Promise<boolean>;
}

const Context = createContext<EditedIncident | undefined>(undefined);

export const EditIncident = ({ value, children }: { value: EditedIncident; children: ReactNode }) => (
  <Context value={value}>
    <EditedResource value={value}>{children}</EditedResource>
  </Context>
);

export function useEditedIncident(): EditedIncident {
  const edited = useContext(Context);
  if (edited === undefined) throw new Error('there is no incident to edit');
  return edited;
}
