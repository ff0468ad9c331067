import type { CreateIncidentRelationReply, Incident, IncidentRelation, ListSimilarIncidentsReply } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { sayError } from '../api/failures.ts';
import { useContentKey, useGet, useList, useWrite } from '../api/hooks.ts';
import { SeverityBadge, StatusText } from '../incidents/incident-labels.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';

const TYPES = [
  ['duplicate_of', 'Duplicate', 'of'],
  ['related', 'Related', 'to'],
] as const;

/** Incidents that may be the same, which a button relates to this one; those that are related already are left out. */
export function SimilarCard({
  incident: { id },
  canEdit,
  onDuplicate,
}: {
  incident: Incident;
  canEdit: boolean;
  /** With the reference of the incident that is continued. */
  onDuplicate: (original: string) => void;
}) {
  const query = useGet<ListSimilarIncidentsReply>(`/incidents/${id}/similar`);
  const path = `/incidents/${id}/relations`;
  const related = useList<IncidentRelation>(path, 'relations').data?.rows ?? [];
  const relate = useWrite<CreateIncidentRelationReply>('/incidents');
  const key = useContentKey();
  const list = useRef<HTMLDivElement>(null);
  const add = (type: (typeof TYPES)[number][0], incidentId: number) => {
    const body = { type, incident_id: incidentId };
    // The row of the button goes.
    list.current?.focus();
    relate.mutate(
      { path, key: key.of(JSON.stringify(body)), body },
      {
        onError: sayError,
        onSuccess: ({ relation }) => type === 'duplicate_of' && onDuplicate(relation.incident.human_id),
      },
    );
  };
  return (
    <Card title="Similar">
      <div ref={list} tabIndex={-1}>
        <Loaded query={query} rows={1}>
          {({ similar }) => {
            const others = similar.filter((each) => related.every(({ incident }) => incident.id !== each.incident_id));
            if (others.length === 0) return <p className={classes(ui.item, ui.muted)}>No similar incident</p>;
            return (
              <ul>
                {others.map(({ incident_id: other, human_id: name, title, severity, status }) => (
                  <li key={other} className={ui.item}>
                    <p>
                      <Link to="/incidents/$id" params={{ id: name }}>
                        {name}
                      </Link>{' '}
                      <bdi>{title}</bdi>
                    </p>
                    <div className={ui.row}>
                      <SeverityBadge value={severity} />
                      <StatusText value={status} />
                      {canEdit &&
                        TYPES.map(([type, label, to]) => (
                          <Button
                            key={type}
                            kind="quiet"
                            small
                            busy={relate.isPending}
                            aria-label={`${label} ${to} ${name}`}
                            onClick={() => add(type, other)}
                          >
                            {label}
                          </Button>
                        ))}
                    </div>
                  </li>
                ))}
              </ul>
            );
          }}
        </Loaded>
      </div>
    </Card>
  );
}
