/**
 * `incident` is one incident, from its declaration (`declare.tsx`) on. Its page has what it is (`details.tsx`), what
 * happened (`activity.tsx`, the timeline and the changelog in one column), what can be done with it (`verbs.tsx`), its
 * relations, its follow-ups and its chat, and leads to its post-mortem (`postmortem.tsx`), which people write section by
 * section. Each property becomes a form where it stands (`editable.tsx`), and is saved
 * on the revision that its author was shown (`save-incident.tsx`). The address is the reference of the incident
 * (`incident-address.tsx`); with a revision behind it, the page shows the incident as it was.
 */
import type { FollowUp, GetIncidentReply, Incident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useAccess, useConfiguration, useGet, useRetention } from '../api/hooks.ts';
import { formatDay, formatDuration } from '../ui/format.ts';
import { buttonClass, classes } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { choices } from '../ui/fields.tsx';
import { PostmortemBadge, Restricted, SeverityBadge, StatusText, UpdateDue } from '../incidents/incident-labels.tsx';
import { Card } from '../ui/layout.tsx';
import { Markdown, SafeLink } from '../ui/markdown.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { Activity } from './activity.tsx';
import { Actor, MonitorKeys, useMonitorKeys } from './actor.tsx';
import { AfterResolve } from './after-resolve.tsx';
import { Chat } from './chat.tsx';
import { useDescribe } from '../incidents/describe.ts';
import { Details, FieldValues, usePersons } from './details.tsx';
import { Editable, Nothing } from './editable.tsx';
import { areaEditor, choiceEditor, textEditor } from './editors.tsx';
import { FollowUpDialog, FollowUpRow } from '../follow-ups/follow-up-row.tsx';
import { lastList } from '../incidents/incident-filters.ts';
import { usePolling } from './polling.ts';
import { useIncidentKeys } from './incident-keys.ts';
import css from './incident.module.css';
import { ListCard } from './list-card.tsx';
import { RelationsCard } from './relations-card.tsx';
import { EditIncident, useSaveIncident } from './save-incident.tsx';
import { SimilarCard } from './similar-card.tsx';
import { type Asked, Verbs } from './verbs.tsx';
import { Accesses } from './visibility.tsx';

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

/** When the retention deletes an archived incident. */
function DeletedFrom({ archivedAt }: { archivedAt: string }) {
  const { days, starts_at: starts } = useRetention(true) ?? {};
  if (days?.archived_incidents == null || starts?.archived_incidents == null) return null;
  const due = Date.parse(archivedAt) + days.archived_incidents * 24 * 3_600_000;
  const first = new Date(Math.max(due, Date.parse(starts.archived_incidents))).toISOString();
  return `, deleted for good from ${formatDay(first)} on`;
}

function Shown({ incident }: { incident: Incident }) {
  const { canRespond, seesAllRestricted } = useAccess();
  const [asked, setAsked] = useState<Asked>();
  const [isResolved, setResolved] = useState(false);
  const { statuses } = useConfiguration();
  const { id, revision } = incident;
  const { save, saveEvent, conflict } = useSaveIncident(id);
  const canEdit = canRespond && incident.archived_at === null;
  const isOver = statuses.find(({ key }) => key === incident.status)?.is_terminal === true;
  const closeAsDuplicate = (original: string) =>
    !isOver && setAsked({ verb: 'close', status: incident.status, note: `Duplicate of ${original}` });
  useIncidentKeys(incident, { canEdit, save });
  usePolling(incident);
  const monitors = useMonitorKeys(incident);

  return (
    <MonitorKeys.Provider value={monitors}>
      <EditIncident value={{ id, revision, canEdit, save, saveEvent }}>
        <Link to="/" search={lastList()} className={css.back}>
          <Icon name="back" size={14} />
          Incidents
        </Link>
        <Head incident={incident} duration={`${isOver ? 'took' : 'for'} ${formatDuration(incident.duration_seconds)}`}>
          {canRespond && <Verbs {...{ incident, isOver, asked, setAsked }} onResolved={() => setResolved(true)} />}
        </Head>
        {isResolved && <AfterResolve incident={incident} onClose={() => setResolved(false)} />}
        <div className={css.columns}>
          <Activity incident={incident} canEdit={canEdit} />
          <aside className={css.aside} aria-label="Properties">
            <Card title="Details" padded>
              <Details incident={incident} />
            </Card>
            <ListCard<FollowUp>
              title="Follow-ups"
              path={`/incidents/${id}/follow-ups`}
              property="follow_ups"
              none="Nothing is left to do"
              add={canEdit && 'Follow-up'}
              dialog={(onClose) => <FollowUpDialog incidentId={id} onClose={onClose} />}
            >
              {(followUp) => <FollowUpRow key={followUp.id} followUp={followUp} canEdit={canEdit} />}
            </ListCard>
            <SimilarCard incident={incident} canEdit={canEdit} onDuplicate={closeAsDuplicate} />
            <RelationsCard incident={incident} canEdit={canEdit} onDuplicate={closeAsDuplicate} />
            <FieldValues incident={incident} />
            <Chat incident={incident} canEdit={canEdit} />
            {incident.restricted && seesAllRestricted && <Accesses incidentId={id} />}
            <Card title="Post-mortem" padded>
              <div className={ui.row}>
                <Link to="/incidents/$id/postmortem" params={{ id: incident.human_id }}>
                  {incident.postmortem_state === null ? 'Write or read it' : 'Read it'}
                </Link>
                {incident.postmortem_state !== null && <PostmortemBadge state={incident.postmortem_state} />}
              </div>
            </Card>
          </aside>
        </div>
        {conflict}
      </EditIncident>
    </MonitorKeys.Provider>
  );
}

/** An incident as it was at a revision, without what its changelog does not have. */
export function IncidentAsOf({ id, revision }: { id: number; revision: number }) {
  const query = useGet<GetIncidentReply>(`/incidents/${id}?at_revision=${revision}`);
  const { label } = useDescribe();
  const { save, saveEvent } = useSaveIncident(id);
  return (
    <div className={ui.page}>
      <Loaded query={query} heading="h1">
        {({ incident, not_recorded: notRecorded = [] }) => (
          <EditIncident value={{ id, revision, canEdit: false, notRecorded, save, saveEvent }}>
            <div className={classes(ui.notice, css.asOf)}>
              <p>
                <span className={ui.strong}>
                  {incident.human_id} as it was at revision {revision}.
                </span>{' '}
                Not recorded, and so not shown: {notRecorded.map(label).join(', ')}.
              </p>
              <Link to="/incidents/$id" params={{ id: incident.human_id }} className={buttonClass('normal', true)}>
                As it is now
              </Link>
            </div>
            <Head incident={incident} />
            <div className={css.past}>
              <Card title="Details" padded>
                <Details incident={incident} />
              </Card>
              <FieldValues incident={incident} />
            </div>
          </EditIncident>
        )}
      </Loaded>
    </div>
  );
}

/** What whoever opens the page must know first; severity, status and lead are changed here. */
function Head({ incident, duration, children }: { incident: Incident; duration?: string; children?: ReactNode }) {
  const { statuses, severities } = useConfiguration();
  const { nameOf, personEditor } = usePersons();
  useEffect(() => void (document.title = `${incident.human_id} ${incident.title} · Tocsin`), [incident]);
  const { severity, status, incident_manager: lead, external_url: external } = incident;
  return (
    <header className={css.head}>
      <p className={ui.facts}>
        <span className={ui.strong}>{incident.human_id}</span>
        {incident.restricted && <Restricted />}
        <UpdateDue incident={incident} />
        {duration && <span>{duration}</span>}
        <span>
          Declared <Ago time={incident.created_at} /> by{' '}
          <Actor inSentence id={incident.created_by} apiKey={incident.created_by_key} />
        </span>
        {incident.archived_at && (
          <span>
            archived <Ago time={incident.archived_at} />
            <DeletedFrom archivedAt={incident.archived_at} />
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
            {lead ? nameOf(lead) : <Nothing asks="No lead">No lead</Nothing>}
          </span>
        </Editable>
      </div>
      <div className={css.summary}>
        <Editable
          name="impact_summary"
          label="Impact summary"
          value={incident.impact_summary}
          editor={areaEditor}
          hasLinks={incident.impact_summary !== ''}
        >
          {incident.impact_summary === '' ? (
            <Nothing asks="What do customers notice?">No impact summary</Nothing>
          ) : (
            <Markdown text={incident.impact_summary} />
          )}
        </Editable>
      </div>
      {children}
    </header>
  );
}
