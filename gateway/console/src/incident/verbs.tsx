import { type Incident, TocsinError } from '@tocsin/sdk';
import { useRef, useState } from 'react';
import { read, write } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';
import { refresh, useConfiguration } from '../api/hooks.ts';
import { LABELS, type Verb, verbsFor } from '../incidents/lifecycle.ts';
import { DeleteForGood } from './delete-for-good.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Confirm, FormDialog } from '../ui/dialogs.tsx';
import { useDraft } from '../ui/drafts.ts';
import { TextArea } from '../ui/fields.tsx';
import { plural } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { useKeys } from '../ui/use-keys.ts';
import { type ImpactEnd, impactEdit, impactEndOf, ImpactFields } from './impact-end.tsx';
import css from './incident.module.css';
import { useEditedIncident } from './save-incident.tsx';

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
  /** Of what is to be resolved. */
  impact?: ImpactEnd;
}

/**
 * Writes on the revision that has the status that was seen: other changes do not matter.
 * @returns the status, if it is another one; then nothing is written
 */
async function writeNoted(path: string, { verb, status, note }: Asked & { verb: Noted; note: string }) {
  for (;;) {
    const { incident: stored } = await read<{ incident: Incident }>(path);
    if (stored.status !== status) return stored.status;
    try {
      const body = { expected_revision: stored.revision, ...(note.trim() !== '' && { [NOTES[verb]]: note }) };
      await write({ path: `${path}/${verb}`, body });
      return undefined;
    } catch (error) {
      if (failureOf(error).status !== 412) throw error;
    }
  }
}

interface VerbsProps {
  incident: Incident;
  isOver: boolean;
  asked: Asked | undefined;
  setAsked: (asked: Asked | undefined) => void;
  onResolved: () => void;
}

/** Carries verbs out, and asks again if somebody else has changed the status meanwhile. */
function useSend({
  incident,
  asked,
  setAsked,
  note,
  onDone,
}: Omit<VerbsProps, 'isOver' | 'onResolved'> & {
  note: string;
  onDone: (verb: Verb) => void;
}) {
  const { statuses } = useConfiguration();
  const { save } = useEditedIncident();
  const [state, setState] = useState<State>('rest');
  const path = `/incidents/${incident.id}`;
  const end = async (verb: Noted, seen: string): Promise<void> => {
    const status = await writeNoted(path, { verb, status: seen, note });
    if (status === undefined) return;
    setAsked({ ...asked, verb, status });
    const label = statuses.find(({ key }) => key === status)?.label ?? status;
    const question = `Somebody else set the status to ${label} meanwhile. ${LABELS[verb]} anyway?`;
    throw new TocsinError('precondition_failed', question, { status: 412 });
  };
  const send = async (verb: Verb, seen = '') => {
    setState('busy');
    try {
      const edit = asked?.impact && impactEdit(asked.impact);
      if (edit !== undefined && !(await save(edit))) {
        setState('rest');
        return;
      }
      if (isNoted(verb)) await end(verb, seen);
      else await write({ path: `${path}/${verb}`, body: {} });
      setState('rest');
      onDone(verb);
      say(`${incident.human_id} is ${DONE[verb]}.`);
      void refresh('/incidents');
    } catch (error) {
      setState(failureOf(error));
    }
  };
  return { state, send, forget: () => setState('rest') };
}

/** The buttons of what can be done with an incident; on a phone, the most frequent is in a bar that stays. */
export function Verbs({ incident, isOver, asked, setAsked, onResolved }: VerbsProps) {
  const place = useRef<HTMLDivElement>(null);
  const [note = asked?.note ?? '', setNote] = useDraft<string>(`${incident.id} verb`);
  const { state, send, forget } = useSend({
    ...{ incident, asked, setAsked, note },
    onDone: (verb) => {
      if (isNoted(verb)) setNote(undefined);
      setAsked(undefined);
      if (verb === 'resolve') onResolved();
      // The button that had the focus is about to go.
      else requestAnimationFrame(() => place.current?.focus());
    },
  });
  const ask = (verb: Asked['verb']) =>
    setAsked({ verb, status: incident.status, ...(verb === 'resolve' && { impact: impactEndOf(incident) }) });
  const close = () => {
    setAsked(undefined);
    forget();
  };
  const verbs = verbsFor(incident, isOver).filter(isNoted);
  const [first] = verbs;
  const isArchived = incident.archived_at !== null;
  useKeys({ r: !isArchived && first !== undefined && (() => ask(first)) });
  if (isArchived) {
    return (
      <div ref={place} tabIndex={-1} className={classes(ui.row, css.verbs)}>
        <DeleteForGood incident={incident} />
        <Button busy={state === 'busy'} onClick={() => void send('restore')}>
          Restore
        </Button>
      </div>
    );
  }
  return (
    <div ref={place} tabIndex={-1} className={classes(ui.row, css.verbs)}>
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
      <DeleteForGood incident={incident} />
      <Bar verb={first} isOver={isOver} onAsk={ask} />
      {asked && (
        <Question
          {...{ incident, asked, setAsked, state, note, setNote }}
          onClose={close}
          onSubmit={() => void send(asked.verb, asked.status)}
        />
      )}
    </div>
  );
}

/** On a phone: what is done most often. */
function Bar({ verb, isOver, onAsk }: { verb: Noted | undefined; isOver: boolean; onAsk: (verb: Noted) => void }) {
  return (
    <div className={css.bar} role="group" aria-label="Most frequent">
      <Button icon="plus" onClick={() => document.querySelector<HTMLElement>('#write textarea')?.focus()}>
        Add
      </Button>
      {verb && (
        <Button kind={isOver ? 'normal' : 'primary'} onClick={() => onAsk(verb)}>
          {LABELS[verb]}
        </Button>
      )}
    </div>
  );
}

type State = 'rest' | 'busy' | TocsinError;

/** The dialogue that asks before something is done. */
function Question({
  incident,
  asked,
  setAsked,
  state,
  note,
  setNote,
  onClose,
  onSubmit,
}: {
  incident: Incident;
  asked: Asked;
  setAsked: (asked: Asked) => void;
  state: State;
  note: string;
  setNote: (note: string | undefined) => void;
  onClose: () => void;
  onSubmit: () => void;
}) {
  const { verb, impact } = asked;
  const form = {
    title: `${LABELS[verb]} ${incident.human_id}`,
    label: LABELS[verb],
    busy: state === 'busy',
    error: state instanceof TocsinError ? state : null,
    onClose,
    onSubmit,
  };
  if (verb === 'archive') {
    return (
      <Confirm {...form}>
        It leaves the lists with its {plural(incident.event_count, 'event')} and cannot be changed until it is restored.
      </Confirm>
    );
  }
  return (
    <FormDialog
      {...form}
      onCancel={() => {
        setNote(undefined);
        onClose();
      }}
    >
      <TextArea
        label="Note for the timeline"
        name={NOTES[verb]}
        hint={HINTS[verb]}
        value={note}
        onValue={(text) => setNote(text === '' && asked.note === undefined ? undefined : text)}
      />
      {impact && (
        <ImpactFields value={impact.value} onValue={(value) => setAsked({ ...asked, impact: { ...impact, value } })} />
      )}
    </FormDialog>
  );
}
