import type { Incident } from '@tocsin/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAccess, useConfiguration, useGet, useNameOf, useWrite } from '../api/hooks.ts';
import { formatDuration, plural } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { say } from '../ui/toast.tsx';
import {
  Ago,
  Button,
  Card,
  classes,
  Confirm,
  css as ui,
  FormDialog,
  Loaded,
  SeverityBadge,
  StatusText,
  TextArea,
} from '../ui/ui.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { Changelog } from './changelog.tsx';
import { Chat } from './chat.tsx';
import { Details, FieldValues } from './details.tsx';
import { areaEditor, Editable, textEditor } from './editable.tsx';
import css from './incident.module.css';
import { useSaveIncident } from './save-incident.tsx';
import { Timeline } from './timeline.tsx';

const route = getRouteApi('/incidents/$id');

export function IncidentPage() {
  const { id } = route.useParams();
  const query = useGet<{ incident: Incident }>(`/incidents/${encodeURIComponent(id)}`);
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
  const nameOf = useNameOf();
  const { save, conflict } = useSaveIncident(incident);
  const [tab, setTab] = useState<'timeline' | 'changes'>('timeline');
  const isArchived = incident.archived_at !== null;
  const canEdit = canRespond && !isArchived;
  const isOver = statuses.find(({ key }) => key === incident.status)?.is_terminal === true;
  useEffect(() => void (document.title = `${incident.human_id} ${incident.title} · Tocsin`), [incident]);

  return (
    <>
      <Link to="/" className={css.back}>
        <Icon name="back" size={14} />
        Incidents
      </Link>
      <header className={css.head}>
        <div className={css.meta}>
          <SeverityBadge value={incident.severity} />
          <StatusText value={incident.status} />
          <span className={ui.muted}>{incident.human_id}</span>
          <span className={ui.muted}>
            {isOver ? 'took ' : 'for '}
            {formatDuration(incident.duration_seconds)}
          </span>
        </div>
        <h1 className={css.title}>
          <Editable
            label="Title"
            value={incident.title}
            canEdit={canEdit}
            editor={textEditor({ max: 255 })}
            onSave={async (title) => save({ title })}
          >
            {incident.title}
          </Editable>
        </h1>
        <div className={css.summary}>
          <Editable
            label="Impact summary"
            value={incident.impact_summary}
            canEdit={canEdit}
            editor={areaEditor}
            onSave={async (text) => save({ impact_summary: text })}
          >
            {incident.impact_summary || <span className={ui.muted}>What do customers notice?</span>}
          </Editable>
        </div>
        <p className={css.by}>
          Declared <Ago time={incident.created_at} /> by {nameOf(incident.created_by).replace(/^You$/, 'you')}
          {isArchived && (
            <>
              {' · '}archived <Ago time={incident.archived_at} />
            </>
          )}
        </p>
        {canRespond && <Verbs incident={incident} isOver={isOver} />}
      </header>
      <div className={css.columns}>
        <div className={css.story}>
          <div className={css.tabs} role="tablist" aria-label="What happened">
            {(['timeline', 'changes'] as const).map((each) => (
              <button key={each} type="button" role="tab" aria-selected={tab === each} onClick={() => setTab(each)}>
                {each === 'timeline' ? `Timeline (${incident.event_count})` : 'Changes'}
              </button>
            ))}
          </div>
          <div role="tabpanel" aria-label={tab === 'timeline' ? 'Timeline' : 'Changes'}>
            {tab === 'timeline' ? (
              <Timeline incidentId={incident.id} canEdit={canEdit} />
            ) : (
              <Changelog incidentId={incident.id} />
            )}
          </div>
        </div>
        <aside className={css.aside} aria-label="Properties">
          <Card title="Details" padded>
            <Details incident={incident} canEdit={canEdit} save={save} />
          </Card>
          <FieldValues incident={incident} canEdit={canEdit} />
          <Chat incident={incident} canEdit={canEdit} />
        </aside>
      </div>
      {conflict}
    </>
  );
}

const NOTES = { resolve: 'resolution_note', close: 'close_note', reopen: 'reopen_note' } as const;
type Verb = keyof typeof NOTES;
const LABELS: Record<Verb, string> = { resolve: 'Resolve', close: 'Close', reopen: 'Reopen' };
const HINTS: Record<Verb, string> = {
  resolve: 'The incident becomes a postmortem: something to learn from.',
  close: 'Nothing more will happen here.',
  reopen: 'It goes on.',
};

function Verbs({ incident, isOver }: { incident: Incident; isOver: boolean }) {
  const path = `/incidents/${incident.id}`;
  const change = useWrite<{ incident: Incident }>('/incidents');
  const [asked, setAsked] = useState<Verb | 'archive'>();
  const [note, setNote] = useState('');
  const isArchived = incident.archived_at !== null;
  const close = () => {
    setAsked(undefined);
    change.reset();
  };
  const send = (verb: Verb | 'archive' | 'restore', body: object, done: string) =>
    change.mutate(
      { path: `${path}/${verb}`, body },
      {
        onSuccess: () => {
          setNote('');
          setAsked(undefined);
          say(`${incident.human_id} is ${done}.`);
        },
      },
    );

  useKeys({ r: !isArchived && (() => setAsked(isOver ? 'reopen' : 'resolve')) });
  const verbs: readonly Verb[] = isOver
    ? ['resolved', 'closed'].includes(incident.status)
      ? ['reopen']
      : []
    : ['resolve', 'close'];
  return (
    <div className={classes(ui.row, css.verbs)}>
      {isArchived ? (
        <Button busy={change.isPending} onClick={() => send('restore', {}, 'restored')}>
          Restore
        </Button>
      ) : (
        <>
          {verbs.map((verb, index) => (
            <Button key={verb} kind={index === 0 && !isOver ? 'primary' : 'normal'} onClick={() => setAsked(verb)}>
              {LABELS[verb]}
            </Button>
          ))}
          <Button kind="quiet" onClick={() => setAsked('archive')}>
            Archive
          </Button>
        </>
      )}
      {asked === 'archive' && (
        <Confirm
          title={`Archive ${incident.human_id}?`}
          label="Archive"
          busy={change.isPending}
          error={change.error}
          onClose={close}
          onSubmit={() => send('archive', {}, 'archived')}
        >
          It leaves the lists with its {plural(incident.event_count, 'event')} and cannot be changed until it is
          restored.
        </Confirm>
      )}
      {asked !== undefined && asked !== 'archive' && (
        <FormDialog
          title={`${LABELS[asked]} ${incident.human_id}`}
          label={LABELS[asked]}
          busy={change.isPending}
          error={change.error}
          onClose={close}
          onSubmit={() =>
            send(
              asked,
              note.trim() === '' ? {} : { [NOTES[asked]]: note },
              asked === 'reopen' ? 'open again' : `${asked}d`,
            )
          }
        >
          <TextArea
            label="Note for the timeline"
            name={NOTES[asked]}
            hint={HINTS[asked]}
            value={note}
            onValue={setNote}
          />
        </FormDialog>
      )}
    </div>
  );
}
