import type { Incident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useAccess, useConfiguration, useGet } from '../api/hooks.ts';
import { formatDuration } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { choices } from '../ui/fields.tsx';
import { SeverityBadge, StatusText } from '../ui/incident-labels.tsx';
import { Card } from '../ui/layout.tsx';
import { SafeLink } from '../ui/markdown.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { Activity } from './activity.tsx';
import { Chat } from './chat.tsx';
import { CopyPostmortem } from './copy-postmortem.tsx';
import { Details, FieldValues, Nothing, usePersons } from './details.tsx';
import { areaEditor, choiceEditor, Editable, textEditor } from './editable.tsx';
import { lastList } from './incident-filters.ts';
import css from './incident.module.css';
import { EditedIncident, useSaveIncident } from './save-incident.tsx';
import { Verbs } from './verbs.tsx';

export function IncidentPage({ id }: { id: number }) {
  const query = useGet<{ incident: Incident }>(`/incidents/${id}`);
  return (
    <div className={ui.page}>
      <Loaded query={query} heading="h1">
        {({ incident }) => <Shown key={incident.id} incident={incident} />}
      </Loaded>
    </div>
  );
}

function Shown({ incident }: { incident: Incident }) {
  const { canRespond } = useAccess();
  const { statuses } = useConfiguration();
  const { id, revision } = incident;
  const { save, saveEvent, conflict } = useSaveIncident(id);
  const canEdit = canRespond && incident.archived_at === null;
  const isOver = statuses.find(({ key }) => key === incident.status)?.is_terminal === true;
  useEffect(() => void (document.title = `${incident.human_id} ${incident.title} · Tocsin`), [incident]);

  return (
    <EditedIncident.Provider value={{ id, revision, canEdit, save, saveEvent }}>
      <Link to="/" search={lastList()} className={css.back}>
        <Icon name="back" size={14} />
        Incidents
      </Link>
      <Head incident={incident} isOver={isOver}>
        {canRespond && <Verbs incident={incident} isOver={isOver} />}
      </Head>
      <div className={css.columns}>
        <Activity incident={incident} canEdit={canEdit} />
        <aside className={css.aside} aria-label="Properties">
          <Card title="Details" padded>
            <Details incident={incident} />
          </Card>
          <FieldValues incident={incident} />
          <Chat incident={incident} canEdit={canEdit} />
          <div>
            <CopyPostmortem incident={incident} />
          </div>
        </aside>
      </div>
      {conflict}
    </EditedIncident.Provider>
  );
}

/** What whoever opens the page must know first; severity, status and lead are changed here. */
function Head({ incident, isOver, children }: { incident: Incident; isOver: boolean; children: ReactNode }) {
  const { statuses, severities } = useConfiguration();
  const { nameOf, personEditor } = usePersons();
  const { severity, status, incident_manager: lead, external_url: external } = incident;
  return (
    <header className={css.head}>
      <p className={css.meta}>
        <span className={ui.strong}>{incident.human_id}</span>
        <span>
          {isOver ? 'took ' : 'for '}
          {formatDuration(incident.duration_seconds)}
        </span>
        <span>
          Declared <Ago time={incident.created_at} /> by {nameOf(incident.created_by).replace(/^You$/, 'you')}
        </span>
        {incident.archived_at && (
          <span>
            archived <Ago time={incident.archived_at} />
          </span>
        )}
        {external && <SafeLink href={external}>Where it was imported from</SafeLink>}
      </p>
      <h1 className={css.title}>
        <Editable name="title" label="Title" value={incident.title} editor={textEditor({ max: 255 })}>
          {incident.title}
        </Editable>
      </h1>
      <div className={css.facts}>
        <Editable
          name="severity"
          label="Severity"
          value={severity}
          editor={choiceEditor(choices(severities, 'key', 'label'))}
        >
          <SeverityBadge value={severity} />
        </Editable>
        <Editable name="status" label="Status" value={status} editor={choiceEditor(choices(statuses, 'key', 'label'))}>
          <StatusText value={status} />
        </Editable>
        <Editable name="incident_manager" label="Lead" value={lead} editor={personEditor}>
          <span className={css.lead}>
            <Icon name="users" size={14} />
            {lead ? nameOf(lead) : <Nothing>No lead</Nothing>}
          </span>
        </Editable>
      </div>
      <div className={css.summary}>
        <Editable name="impact_summary" label="Impact summary" value={incident.impact_summary} editor={areaEditor}>
          {incident.impact_summary || <Nothing>What do customers notice?</Nothing>}
        </Editable>
      </div>
      {children}
    </header>
  );
}
