import { type Incident, TocsinError } from '@tocsin/sdk';
import { useState } from 'react';
import { read, write } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';
import { refresh, useConfiguration } from '../api/hooks.ts';
import { LABELS, type Verb, verbsFor } from '../incidents/lifecycle.ts';
import { Button, classes } from '../ui/button.tsx';
import { Confirm, FormDialog } from '../ui/dialogs.tsx';
import { useDraft } from '../ui/drafts.ts';
import { TextArea } from '../ui/fields.tsx';
import { plural } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { useKeys } from '../ui/use-keys.ts';
import css from './incident.module.css';

const NOTES = { resolve: 'resolution_note', close: 'close_note', reopen: 'reopen_note' } as const;
type Noted = keyof typeof NOTES;
const DONE = {
  resolve: 'resolved',
  close: 'closed',
  reopen: 'open again',
  archive: 'archived',
  restore: 'restored',
};
const HINTS: Record<Noted, string> = {
  resolve: 'The incident becomes a postmortem: something to learn from.',
  close: 'Nothing more will happen here.',
  reopen: 'It goes on.',
};

const isNoted = (verb: Verb): verb is Noted => verb in NOTES;

/** What somebody is asked before it is done, with the status that they have seen. */
export interface Asked {
  verb: Noted | 'archive';
  status: string;
  note?: string;
}

/** The buttons of what can be done with an incident; on a phone, the most frequent is in a bar that stays. */
export function Verbs({
  incident,
  isOver,
  asked,
  setAsked,
}: {
  incident: Incident;
  isOver: boolean;
  asked: Asked | undefined;
  setAsked: (asked: Asked | undefined) => void;
}) {
  const { statuses } = useConfiguration();
  const [note = asked?.note ?? '', setNote] = useDraft<string>(`${incident.id} verb`);
  const [state, setState] = useState<'rest' | 'busy' | TocsinError>('rest');
  const path = `/incidents/${incident.id}`;
  const ask = (verb: Asked['verb']) => setAsked({ verb, status: incident.status });
  const close = () => {
    setAsked(undefined);
    setState('rest');
  };
  /** Writes on the revision that has the status that was seen: other changes do not matter. */
  const end = async (verb: Noted, seen: string): Promise<void> => {
    for (;;) {
      const { incident: stored } = await read<{ incident: Incident }>(path);
      if (stored.status !== seen) {
        setAsked({ ...asked, verb, status: stored.status });
        const label = statuses.find(({ key }) => key === stored.status)?.label ?? stored.status;
        const question = `Somebody else set the status to ${label} meanwhile. ${LABELS[verb]} anyway?`;
        throw new TocsinError('precondition_failed', question, { status: 412 });
      }
      try {
        const body = { expected_revision: stored.revision, ...(note.trim() !== '' && { [NOTES[verb]]: note }) };
        await write({ path: `${path}/${verb}`, body });
        return;
      } catch (error) {
        if (failureOf(error).status !== 412) throw error;
      }
    }
  };
  const send = async (verb: Verb, seen = '') => {
    setState('busy');
    try {
      if (isNoted(verb)) {
        await end(verb, seen);
        setNote(undefined);
      } else await write({ path: `${path}/${verb}`, body: {} });
      close();
      say(`${incident.human_id} is ${DONE[verb]}.`);
      void refresh('/incidents');
    } catch (error) {
      setState(failureOf(error));
    }
  };
  const verbs = verbsFor(incident, isOver).filter(isNoted);
  const [first] = verbs;
  const isArchived = incident.archived_at !== null;
  useKeys({ r: !isArchived && first !== undefined && (() => ask(first)) });
  if (isArchived) {
    return (
      <div className={classes(ui.row, css.verbs)}>
        <Button busy={state === 'busy'} onClick={() => void send('restore')}>
          Restore
        </Button>
      </div>
    );
  }
  const form = asked && {
    title: `${LABELS[asked.verb]} ${incident.human_id}`,
    label: LABELS[asked.verb],
    busy: state === 'busy',
    error: state instanceof TocsinError ? state : null,
    onClose: close,
    onSubmit: () => void send(asked.verb, asked.status),
  };
  return (
    <div className={classes(ui.row, css.verbs)}>
      {verbs.map((verb, index) => (
        <span key={verb} className={index === 0 ? css.first : undefined}>
          <Button kind={index === 0 && !isOver ? 'primary' : 'normal'} onClick={() => ask(verb)}>
            {LABELS[verb]}
          </Button>
        </span>
      ))}
      <Button kind="quiet" onClick={() => ask('archive')}>
        Archive
      </Button>
      <div className={css.bar} role="group" aria-label="Most frequent">
        <Button icon="plus" onClick={() => document.querySelector<HTMLElement>('#write textarea')?.focus()}>
          Add
        </Button>
        {first && (
          <Button kind={isOver ? 'normal' : 'primary'} onClick={() => ask(first)}>
            {LABELS[first]}
          </Button>
        )}
      </div>
      {form && asked.verb === 'archive' && (
        <Confirm {...form}>
          It leaves the lists with its {plural(incident.event_count, 'event')} and cannot be changed until it is
          restored.
        </Confirm>
      )}
      {form && asked.verb !== 'archive' && (
        <FormDialog
          {...form}
          onCancel={() => {
            setNote(undefined);
            close();
          }}
        >
          <TextArea
            label="Note for the timeline"
            name={NOTES[asked.verb]}
            hint={HINTS[asked.verb]}
            value={note}
            onValue={(text) => setNote(text === '' && asked.note === undefined ? undefined : text)}
          />
        </FormDialog>
      )}
    </div>
  );
}
