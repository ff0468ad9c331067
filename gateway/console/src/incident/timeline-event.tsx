import { type FormerTimelineEvent, type TimelineEvent, TocsinError } from '@tocsin/sdk';
import { memo, useState } from 'react';
import { write } from '../api/client.ts';
import { failureOf, sayError } from '../api/failures.ts';
import { useActorOf, useList } from '../api/hooks.ts';
import { refreshTimeline } from '../api/live.ts';
import { Button, classes } from '../ui/button.tsx';
import { equal } from '../resources/conflict.tsx';
import { DeleteDialog } from '../resources/delete-dialog.tsx';
import { useDraft } from '../ui/drafts.ts';
import { formatName, formatTime } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Markdown, SafeLink } from '../ui/markdown.tsx';
import { More } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import css from './activity.module.css';
import { Actor } from './actor.tsx';
import { AlertFacts } from './alert-facts.tsx';
import { type EventFields, EventForm } from './composer.tsx';
import { EventPictures, picturesOf } from './pictures.tsx';
import { useEditedIncident } from './save-incident.tsx';

/** An edit of an event, on what was shown when it began. */
interface Draft {
  value: EventFields;
  base: EventFields;
  revision: number;
}

const fieldsOf = (event: TimelineEvent): EventFields => {
  const { body, is_key, started_at, ended_at } = event;
  return { body, is_key, started_at, ended_at, pictures: picturesOf(event) };
};

/** As the API has them. */
const valuesOf = ({ pictures, ...fields }: EventFields) => ({
  ...fields,
  ...(pictures && { attachments: pictures.map(({ id }) => id) }),
});

/** Drawn again only if it has changed: there may be thousands. */
export const Event = memo(function Event({ event }: { event: TimelineEvent }) {
  const { id, canEdit, saveEvent } = useEditedIncident();
  const actorOf = useActorOf();
  const [draft, setDraft] = useDraft<Draft>(`${id} event ${event.id}`);
  const [deleted, setDeleted] = useState<TimelineEvent>();
  const [isOpen, setOpen] = useState(false);
  const isOwn = event.source === 'api' && canEdit;
  const mark = () => {
    const edit = { changes: { is_key: !event.is_key }, base: { ...event }, revision: event.revision };
    void saveEvent(event, edit).catch(sayError);
  };
  return (
    <article className={classes(css.event, event.is_key && css.key)}>
      <p className={css.line}>
        <Actor id={event.created_by} apiKey={event.created_by_key} isMonitor={event.source === 'alert'} />
        {event.is_key && <Badge tone="warn">Key event</Badge>}
        {event.imported && <Badge>Imported</Badge>}
        {event.type !== 'note' && event.type !== '' && <Badge>{formatName(event.type)}</Badge>}
        {event.is_ongoing && <Badge tone="warn">Goes on</Badge>}
        {event.ended_at && <span className={ui.muted}>until {formatTime(event.ended_at)}</span>}
        {event.edited_at && (
          <span className={classes(ui.muted, css.edited)}>
            edited by {actorOf(event.edited_by ?? '', event.edited_api_key)}, {formatTime(event.edited_at)}{' '}
            <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              Before
            </Button>
          </span>
        )}
        {isOwn && draft === undefined && (
          <span className={css.actions}>
            <Button
              kind="quiet"
              small
              icon="flag"
              aria-label={event.is_key ? 'No key event' : 'Key event'}
              onClick={mark}
            />
            <Button
              kind="quiet"
              small
              onClick={() => setDraft({ value: fieldsOf(event), base: fieldsOf(event), revision: event.revision })}
            >
              Edit
            </Button>
            <Button kind="quiet" small onClick={() => setDeleted(event)}>
              Delete
            </Button>
          </span>
        )}
      </p>
      {event.title && <p className={ui.strong}>{event.title}</p>}
      {draft !== undefined && isOwn ? (
        <EventEditor event={event} draft={draft} setDraft={setDraft} />
      ) : (
        <Text event={event} />
      )}
      {draft === undefined && <EventPictures event={event} />}
      {isOpen && <Former id={event.id} />}
      <Attached event={event} />
      {deleted && (
        <DeleteDialog
          what="event"
          path={`/timeline/${event.id}`}
          row={deleted}
          text={({ body }) => body}
          onRow={setDeleted}
          onDone={async () => refreshTimeline(event.incident_id)}
        />
      )}
    </article>
  );
});

const Text = ({ event }: { event: TimelineEvent }) =>
  event.source === 'alert' ? <AlertFacts event={event} /> : <Markdown text={event.body} />;

/** What an event said before its changes. */
function Former({ id }: { id: number }) {
  const list = useList<FormerTimelineEvent>(`/timeline/${id}/revisions`, 'former', { limit: 10 });
  const actorOf = useActorOf();
  return (
    <section aria-label="Before" className={ui.muted}>
      {list.data?.rows.map(({ revision, title, body, started_at, edited_at, ...by }) => (
        <div key={revision}>
          <p>
            {by.edited_by === null
              ? actorOf(by.created_by, by.created_by_key)
              : actorOf(by.edited_by, by.edited_api_key)}
            {edited_at && `, ${formatTime(edited_at)}`}, began {formatTime(started_at)}
          </p>
          {title && <p className={ui.strong}>{title}</p>}
          <Markdown text={body} />
        </div>
      ))}
      <More list={list} />
    </section>
  );
}

/** What a deleted event said, and the way back, as long as it is deleted. */
export function DeletedEvent({ id }: { id: number }) {
  const { id: incidentId } = useEditedIncident();
  const path = `/incidents/${incidentId}/timeline/deleted`;
  const { data } = useList<FormerTimelineEvent>(path, 'former', { limit: 100 });
  const [isOpen, setOpen] = useState(false);
  const event = data?.rows.find((each) => each.id === id);
  if (event === undefined) return null;
  const restore = async () => {
    await write({ method: 'POST', path: `/timeline/${id}/restore` });
    await refreshTimeline(incidentId);
  };
  return (
    <>
      <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Show
      </Button>
      <Button kind="quiet" small onClick={() => void restore().catch(sayError)}>
        Restore
      </Button>
      {isOpen && <Markdown text={event.body} />}
    </>
  );
}

function EventEditor({
  event,
  draft: { value, base: shownBefore, revision },
  setDraft,
}: {
  event: TimelineEvent;
  draft: Draft;
  setDraft: (draft: Draft | undefined) => void;
}) {
  const { saveEvent } = useEditedIncident();
  const [state, setState] = useState<'rest' | 'saving' | TocsinError>('rest');
  const [values, base] = [valuesOf(value), valuesOf(shownBefore)];
  const names = (Object.keys(base) as (keyof typeof base)[]).filter((name) => !equal(values[name], base[name]));
  const submit = async () => {
    if (state === 'saving') return;
    if (names.length === 0) {
      setDraft(undefined);
      return;
    }
    const changes = Object.fromEntries(names.map((name) => [name, values[name]]));
    setState('saving');
    try {
      const ends = changes['ended_at'] && event.is_ongoing ? { is_ongoing: false } : {};
      const shown = { ...base, is_ongoing: event.is_ongoing };
      if (await saveEvent(event, { changes: { ...changes, ...ends }, base: shown, revision })) setDraft(undefined);
      setState('rest');
    } catch (error) {
      setState(failureOf(error));
    }
  };
  return (
    <EventForm
      incidentId={event.incident_id}
      label="Text of the event"
      // A draft that comes back with the page leaves the focus where it is.
      autoFocus={names.length === 0}
      value={value}
      onValue={(changes) => setDraft({ value: { ...value, ...changes }, base: shownBefore, revision })}
      onSubmit={() => void submit()}
      error={state instanceof TocsinError ? state : null}
      hasTimes
    >
      {event.revision !== revision && event.body !== base.body && (
        <span className={ui.hint}>Somebody changed it while you write.</span>
      )}
      <Button kind="quiet" small onClick={() => setDraft(undefined)}>
        Cancel
      </Button>
      <Button type="submit" kind="primary" small busy={state === 'saving'}>
        Save
      </Button>
    </EventForm>
  );
}

/** Tags, files and where it comes from. */
function Attached({ event }: { event: TimelineEvent }) {
  const { tags, evidence_links: evidence, source_ref: source } = event;
  const attachments = event.attachments.filter(({ thumbnail_url: thumbnail }) => thumbnail === null);
  const isLink = URL.canParse(source);
  if (tags.length + evidence.length + attachments.length === 0 && !isLink) return null;
  return (
    <ul className={classes(ui.row, css.attached)} aria-label="Tags and evidence">
      {tags.map((tag) => (
        <li key={tag}>
          <Badge>{tag}</Badge>
        </li>
      ))}
      {evidence.map(({ url, label, source: system }) => (
        <li key={url}>
          <SafeLink href={url}>{label ?? system}</SafeLink>
        </li>
      ))}
      {attachments.map(({ id, filename, url, url_available: isThere }) => (
        <li key={id} className={ui.row}>
          <Icon name="clip" size={14} />
          {isThere ? <SafeLink href={url}>{filename}</SafeLink> : filename}
        </li>
      ))}
      {isLink && (
        <li>
          <SafeLink href={source}>Source</SafeLink>
        </li>
      )}
    </ul>
  );
}
