import { type CreateIncidentRelationReply, type Incident, type IncidentRelation, TocsinError } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { read } from '../api/client.ts';
import { failureOf, sayError } from '../api/failures.ts';
import { useContentKey, useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Input, Select } from '../ui/fields.tsx';
import { SeverityBadge, StatusText } from '../incidents/incident-labels.tsx';
import ui from '../ui/ui.module.css';
import { labelOf } from '../incidents/describe.ts';
import { useFoundIncidents } from '../incidents/found-incidents.ts';
import { ListCard } from './list-card.tsx';

/** Other incidents, and what this one is to them. */
export function RelationsCard({
  incident: { id },
  canEdit,
  onDuplicate,
}: {
  incident: Incident;
  canEdit: boolean;
  /** With the reference of the incident that is continued. */
  onDuplicate: (original: string) => void;
}) {
  const path = `/incidents/${id}/relations`;
  const remove = useWrite('/incidents');
  return (
    <ListCard<IncidentRelation>
      title="Relations"
      path={path}
      property="relations"
      none="No related incident"
      add={canEdit && 'Relation'}
      dialog={(onClose) => <RelationDialog path={path} onDuplicate={onDuplicate} onClose={onClose} />}
    >
      {({ id: relationId, type, incident: { human_id: name, title, severity, status } }) => (
        <li key={relationId} className={ui.item}>
          <p>
            {labelOf(`relations.${type}`)}{' '}
            <Link to="/incidents/$id" params={{ id: name }}>
              {name}
            </Link>{' '}
            {title}
          </p>
          <div className={ui.row}>
            <SeverityBadge value={severity} />
            <StatusText value={status} />
            {canEdit && (
              <Button
                kind="quiet"
                small
                busy={remove.isPending}
                onClick={() =>
                  remove.mutate({ method: 'DELETE', path: `${path}/${relationId}` }, { onError: sayError })
                }
              >
                Remove
              </Button>
            )}
          </div>
        </li>
      )}
    </ListCard>
  );
}

function RelationDialog({
  path,
  onDuplicate,
  onClose,
}: {
  path: string;
  onDuplicate: (original: string) => void;
  onClose: () => void;
}) {
  const key = useContentKey();
  return (
    <EditDialog<{ type: string; incident_id: string }, CreateIncidentRelationReply>
      title="Relate to another incident"
      label="Relate"
      initial={{ type: 'duplicate_of', incident_id: '' }}
      request={async ({ type, incident_id: reference }) => {
        const body = { type, incident_id: await idOf(reference.trim()) };
        return { path, key: key.of(JSON.stringify(body)), body };
      }}
      refreshes={['/incidents']}
      onDone={({ relation }) => relation.type === 'duplicate_of' && onDuplicate(relation.incident.human_id)}
      onClose={onClose}
    >
      {(bind, { incident_id: text }) => (
        <>
          <Select
            label="This incident is"
            options={[
              ['duplicate_of', 'a duplicate of'],
              ['caused_by', 'caused by'],
              ['related', 'related to'],
            ]}
            {...bind('type')}
          />
          <Input
            label="Which incident?"
            hint="Its reference, such as INC-12, or its ID. Words of its title find it, too."
            list="found-incidents"
            maxLength={255}
            {...bind('incident_id')}
          />
          <FoundIncidents id="found-incidents" text={text} />
        </>
      )}
    </EditDialog>
  );
}

/** The incidents that an input with this list suggests. */
const FoundIncidents = ({ id: list, text }: { id: string; text: string }) => (
  <datalist id={list}>
    {useFoundIncidents(text).map(({ id, human_id: name, title }) => (
      <option key={id} value={name}>
        {title}
      </option>
    ))}
  </datalist>
);

/** The ID of the incident that somebody names. @throws TocsinError */
async function idOf(reference: string): Promise<number> {
  if (/^\d+$/.test(reference)) return Number(reference);
  try {
    const path = `/incident-references/${encodeURIComponent(reference)}`;
    return (await read<{ incident: Incident }>(path)).incident.id;
  } catch (error) {
    if (![400, 404].includes(failureOf(error).status ?? 0)) throw error;
    throw new TocsinError('not_found', 'There is no incident with this reference', {
      status: 404,
      field: 'incident_id',
    });
  }
}
