import type { TimelineEvent } from '@tocsin/sdk';
import { useRef, useState } from 'react';
import { useList, useNameOf, useWrite } from '../api/hooks.ts';
import { formatClock, formatDay, formatName } from '../ui/format.ts';
import { sayError } from '../ui/toast.tsx';
import {
  Badge,
  Button,
  Check,
  classes,
  Confirm,
  css as ui,
  Empty,
  Fault,
  Input,
  Loaded,
  More,
  TextArea,
} from '../ui/ui.tsx';
import { useKeys } from '../ui/use-keys.ts';
import css from './incident.module.css';

export function Timeline({ incidentId, canEdit }: { incidentId: number; canEdit: boolean }) {
  const path = `/incidents/${incidentId}/timeline`;
  const [keyOnly, setKeyOnly] = useState(false);
  const [text, setText] = useState('');
  const list = useList<TimelineEvent>(path, 'events', {
    order: 'desc',
    limit: 30,
    key_only: keyOnly || undefined,
    q: text,
  });
  const isFiltered = keyOnly || text !== '';
  return (
    <div className={ui.stack}>
      {canEdit && <Composer incidentId={incidentId} />}
      <div className={ui.row}>
        <Check label="Key events only" value={keyOnly} onValue={setKeyOnly} />
        <div className={css.find}>
          <Input
            bare
            label="Search the timeline"
            type="search"
            placeholder="Search the timeline"
            value={text}
            onValue={setText}
          />
        </div>
      </div>
      <Loaded query={list}>
        {({ rows: events }) => {
          if (events.length === 0) {
            return isFiltered ? (
              <Empty title="No event matches" icon="search" />
            ) : (
              <Empty title="Nothing is written down yet">
                What is seen, tried and decided here makes the postmortem.
              </Empty>
            );
          }
          return (
            <ol className={css.events}>
              {events.map((event, index) => {
                const day = formatDay(event.started_at);
                const previous = events[index - 1];
                const isNewDay = previous === undefined || formatDay(previous.started_at) !== day;
                return (
                  <li key={event.id}>
                    {isNewDay && <h2 className={css.day}>{day}</h2>}
                    <Event event={event} incidentId={incidentId} canEdit={canEdit} />
                  </li>
                );
              })}
            </ol>
          );
        }}
      </Loaded>
      <More list={list} />
    </div>
  );
}

function Composer({ incidentId }: { incidentId: number }) {
  const add = useWrite(`/incidents/${incidentId}`, '/incidents?');
  const [body, setBody] = useState('');
  const [isKey, setKey] = useState(false);
  const sent = useRef({ text: '', key: '' });
  const form = useRef<HTMLFormElement>(null);
  useKeys({ n: () => form.current?.querySelector('textarea')?.focus() });
  const submit = () => {
    if (body.trim() === '' || add.isPending) return;
    // Sent again, the same text is the same event.
    if (sent.current.text !== body) sent.current = { text: body, key: crypto.randomUUID() };
    add.mutate(
      { path: `/incidents/${incidentId}/timeline`, key: sent.current.key, body: { body, is_key: isKey } },
      {
        onSuccess: () => {
          setBody('');
          setKey(false);
          sent.current = { text: '', key: '' };
        },
      },
    );
  };
  return (
    <form
      ref={form}
      className={css.composer}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextArea
        bare
        label="Write to the timeline"
        placeholder="What happened?"
        rows={2}
        value={body}
        onValue={setBody}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <Fault>{add.error?.message}</Fault>
      <div className={classes(ui.row, css.compose)}>
        <Check label="Key event" value={isKey} onValue={setKey} />
        <span className={classes(ui.hint, css.keys)}>Ctrl+Enter adds it</span>
        <Button type="submit" kind="primary" small busy={add.isPending} disabled={body.trim() === ''}>
          Add
        </Button>
      </div>
    </form>
  );
}

function Event({ event, incidentId, canEdit }: { event: TimelineEvent; incidentId: number; canEdit: boolean }) {
  const nameOf = useNameOf();
  const change = useWrite(`/incidents/${incidentId}`);
  const [draft, setDraft] = useState<string>();
  const [isDeleting, setDeleting] = useState(false);
  const path = `/timeline/${event.id}`;
  const patch = (body: Partial<TimelineEvent>) =>
    change.mutate(
      { method: 'PATCH', path, body, revision: event.revision },
      { onSuccess: () => setDraft(undefined), ...(draft === undefined && { onError: sayError }) },
    );
  const isOwn = event.source === 'api' && canEdit;
  return (
    <article className={classes(css.event, event.is_key && css.key)}>
      <p className={css.line}>
        <time dateTime={event.started_at}>{formatClock(event.started_at)}</time>
        <span className={ui.strong}>{nameOf(event.created_by)}</span>
        {event.is_key && <Badge tone="warn">Key event</Badge>}
        {event.type !== 'note' && event.type !== '' && <Badge>{formatName(event.type)}</Badge>}
        {isOwn && draft === undefined && (
          <span className={css.tools}>
            <Button
              kind="quiet"
              small
              icon="flag"
              aria-label={event.is_key ? 'No key event' : 'Key event'}
              onClick={() => patch({ is_key: !event.is_key })}
            />
            <Button kind="quiet" small onClick={() => setDraft(event.body)}>
              Edit
            </Button>
            <Button kind="quiet" small onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </span>
        )}
      </p>
      {event.title && <p className={ui.strong}>{event.title}</p>}
      {draft === undefined ? (
        <p className={css.text}>{event.body}</p>
      ) : (
        <form
          className={ui.field}
          onSubmit={(submitted) => {
            submitted.preventDefault();
            patch({ body: draft });
          }}
        >
          <TextArea bare label="Text of the event" autoFocus value={draft} onValue={setDraft} />
          <Fault>
            {change.error?.status === 412
              ? 'Somebody changed this event meanwhile. Cancel, and look at their text.'
              : change.error?.message}
          </Fault>
          <div className={ui.row}>
            <Button type="submit" kind="primary" small busy={change.isPending}>
              Save
            </Button>
            <Button kind="quiet" small onClick={() => setDraft(undefined)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
      {isDeleting && (
        <Confirm
          title="Delete this event?"
          label="Delete"
          busy={change.isPending}
          error={change.error}
          onClose={() => setDeleting(false)}
          onSubmit={() => change.mutate({ method: 'DELETE', path }, { onSuccess: () => setDeleting(false) })}
        >
          {event.body.slice(0, 200)}
        </Confirm>
      )}
    </article>
  );
}
