import { type TimelineEvent, TocsinError } from '@tocsin/sdk';
import { type ComponentProps, type ReactNode, useRef, useState } from 'react';
import { write } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';
import { refreshTimeline } from '../api/live.ts';
import { Button, classes } from '../ui/button.tsx';
import { useDraft } from '../ui/drafts.ts';
import { Check, Input, type Options, Refusable, Select, TextArea } from '../ui/fields.tsx';
import { fromLocalInput, toLocalInput } from '../ui/format.ts';
import ui from '../ui/ui.module.css';
import { isSending, useKeys } from '../ui/use-keys.ts';
import css from './activity.module.css';
import { labelOf } from '../incidents/describe.ts';
import { AttachButton, type EventPicture, PictureDrafts, usePictures } from './pictures.tsx';

/** What people write of an event, as the API has it. */
export type EventFields = Pick<TimelineEvent, 'body' | 'is_key' | 'ended_at'> & {
  started_at: string | null;
  /** Absent in an old draft. */
  pictures?: readonly EventPicture[];
};

const TIMES = ['started_at', 'ended_at'] as const;

/** The fields of an event. The text is sent with Ctrl+Enter, when its pictures are there. */
export function EventForm({
  incidentId,
  label,
  value,
  onValue,
  onSubmit: send,
  error,
  hasTimes,
  options,
  children,
  ...area
}: Omit<ComponentProps<'textarea'>, 'value' | 'onSubmit'> & {
  incidentId: number;
  label: string;
  value: EventFields;
  onValue: (changes: Partial<EventFields>) => void;
  onSubmit: () => void;
  error: TocsinError | null;
  hasTimes: boolean;
  /** What else the event may be. */
  options?: ReactNode;
  /** Below the fields. */
  children: ReactNode;
}) {
  const { pictures = [] } = value;
  const { events, add, isUploading, ...drafts } = usePictures({
    ...{ incidentId, pictures },
    onPictures: (next) => onValue({ pictures: next }),
  });
  const onSubmit = () => !isUploading && send();
  return (
    <form
      className={css.composer}
      noValidate
      {...events}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Refusable error={error}>
        <TextArea
          bare
          name="body"
          label={label}
          value={value.body}
          onValue={(body) => onValue({ body })}
          onKeyDown={(event) => {
            if (isSending(event)) onSubmit();
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
          {...area}
        />
        {hasTimes && (
          <div className={ui.pair}>
            {TIMES.map((name) => (
              <Input
                key={name}
                name={name}
                label={labelOf(name)}
                type="datetime-local"
                defaultValue={toLocalInput(value[name])}
                onValue={(text) => onValue({ [name]: fromLocalInput(text) })}
              />
            ))}
          </div>
        )}
      </Refusable>
      <PictureDrafts pictures={pictures} {...drafts} />
      <div className={classes(ui.row, css.compose)}>
        <div className={ui.row}>
          <Check label="Key event" value={value.is_key} onValue={(isKey) => onValue({ is_key: isKey })} />
          {options}
        </div>
        <AttachButton add={add} />
        {children}
      </div>
    </form>
  );
}

interface Draft extends EventFields {
  /** Whether it is for those who are not in the incident. */
  isUpdate?: boolean;
  /** Minutes until the next update. */
  next?: string;
  /** What was sent without a response: the same content must not become a second event. */
  attempt?: { content: string; key: string; event: object };
}

const NEXT: Options = [
  ['', 'Not promised'],
  ['30', 'In 30 minutes'],
  ['60', 'In an hour'],
  ['120', 'In two hours'],
];

/** The body of the request. */
const eventOf = ({ body, is_key, started_at, ended_at, pictures = [], isUpdate = false, next = '' }: Draft) => ({
  ...{ body, is_key, ...(started_at && { started_at }), ...(ended_at && { ended_at }) },
  ...(pictures.length > 0 && { attachments: pictures.map(({ id }) => id) }),
  ...(isUpdate && {
    type: 'update',
    next_update_at: next === '' ? null : new Date(Date.now() + Number(next) * 60_000).toISOString(),
  }),
});

const isEmpty = ({ body, started_at, ended_at, is_key, pictures = [] }: Draft) =>
  body === '' && started_at === null && ended_at === null && !is_key && pictures.length === 0;

const NOTHING: Draft = { body: '', is_key: false, started_at: null, ended_at: null };

/** Whether the event is an update, and when the next one is promised. */
const ForOthers = ({
  draft: { isUpdate = false, next = '' },
  onValue,
}: {
  draft: Draft;
  onValue: (changes: Partial<Draft>) => void;
}) => (
  <>
    <Check label="Update for others" value={isUpdate} onValue={(value) => onValue({ isUpdate: value })} />
    {isUpdate && (
      <Select
        bare
        name="next_update_at"
        label="Next update"
        options={NEXT}
        value={next}
        onValue={(value) => onValue({ next: value })}
      />
    )}
  </>
);

export function Composer({ incidentId }: { incidentId: number }) {
  const [draft = NOTHING, setDraft] = useDraft<Draft>(`${incidentId} note`);
  const [state, setState] = useState<'rest' | 'sending' | TocsinError>('rest');
  const [hasTimes, setHasTimes] = useState(draft.started_at !== null || draft.ended_at !== null);
  const form = useRef<HTMLDivElement>(null);
  const latest = useRef<Draft>(draft);
  const set = (next: Draft | undefined) => {
    latest.current = next ?? NOTHING;
    setDraft(next);
  };
  useKeys({ n: () => form.current?.querySelector('textarea')?.focus() });

  const submit = async () => {
    if (draft.body.trim() === '' || state === 'sending') return;
    const { attempt: last, ...fields } = latest.current;
    const { body, pictures: attached = [] } = fields;
    const content = JSON.stringify(fields);
    const attempt = last?.content === content ? last : { content, key: crypto.randomUUID(), event: eventOf(fields) };
    set({ ...fields, attempt });
    setState('sending');
    try {
      await write({ path: `/incidents/${incidentId}/timeline`, key: attempt.key, body: attempt.event });
      // Whoever types on meanwhile keeps that.
      const newText = latest.current.body.startsWith(body)
        ? latest.current.body.slice(body.length)
        : latest.current.body;
      const pictures = (latest.current.pictures ?? []).filter(({ id }) => attached.every((each) => each.id !== id));
      set(newText.trim() === '' && pictures.length === 0 ? undefined : { ...NOTHING, body: newText, pictures });
      setHasTimes(false);
      setState('rest');
      await refreshTimeline(incidentId);
    } catch (error) {
      setState(failureOf(error));
    }
  };
  return (
    <div ref={form} id="write" className={css.write}>
      <EventForm
        incidentId={incidentId}
        label="Write to the timeline"
        placeholder="What happened?"
        rows={2}
        value={draft}
        onValue={(changes) => {
          const next = { ...latest.current, ...changes };
          set(isEmpty(next) ? undefined : next);
        }}
        onSubmit={() => void submit()}
        error={state instanceof TocsinError ? state : null}
        hasTimes={hasTimes}
        options={<ForOthers draft={draft} onValue={(changes) => set({ ...latest.current, ...changes })} />}
      >
        {!hasTimes && (
          <Button kind="quiet" small onClick={() => setHasTimes(true)}>
            Set a time
          </Button>
        )}
        <Button
          type="submit"
          kind="primary"
          small
          title="Ctrl+Enter"
          busy={state === 'sending'}
          disabled={draft.body.trim() === ''}
        >
          Add
        </Button>
      </EventForm>
    </div>
  );
}
