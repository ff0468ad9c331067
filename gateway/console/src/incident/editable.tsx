import { type CustomField, TocsinError } from '@tocsin/sdk';
import { type SubmitEvent, type ReactNode, useId, useRef, useState } from 'react';
import { failureAt, failureOf } from '../api/failures.ts';
import { equal } from '../resources/conflict.tsx';
import { useDraft } from '../ui/drafts.ts';
import { fromLocalInput, splitTexts, toLocalInput, toText } from '../ui/format.ts';
import { Button } from '../ui/button.tsx';
import { Checks, Input, type NameOf, type Options, Refusable, Select, TextArea, withStored } from '../ui/fields.tsx';
import ui from '../ui/ui.module.css';
import { isComposing, isSending } from '../ui/use-keys.ts';
import css from './editable.module.css';
import { optionsOf, YES_OR_NO } from '../incidents/incident-filters.ts';
import { useEditedIncident } from './save-incident.tsx';

/** An input for a value; `set` takes what is to be saved, `stored` is what is saved now, and refusals name `name`. */
export type Editor<Value> = (
  value: Value,
  set: (value: Value) => void,
  { name, label, stored }: { name: string; label: string; stored: Value },
) => ReactNode;

interface EditableProps<Value> {
  /** As the API names it; a custom field as `custom_fields.` and its slug. */
  name: string;
  label: string;
  value: Value;
  editor: Editor<Value>;
  /** What the API takes, if it is not the value. */
  toApi?: (value: Value) => unknown;
  children: ReactNode;
}

/** What somebody writes, on what they were shown when they began. */
interface Draft<Value> {
  value: Value;
  base: Value;
  revision: number;
}

/** Whether an element is a field of the page. A dialogue that still has the focus is about to close. */
const isOnPage = (element: Element | null): boolean =>
  element !== null && element.matches('input, textarea, select') && element.closest('dialog') === null;

/** A property of the incident that becomes a form where it stands. Escape leaves it as it was. */
export function Editable<Value>({
  name,
  label,
  value,
  editor,
  toApi = (same) => same,
  children,
}: EditableProps<Value>) {
  const { id: incidentId, revision, canEdit, notRecorded, save } = useEditedIncident();
  const [draft, setDraft] = useDraft<Draft<Value>>(`${incidentId} ${name}`);
  const [state, setState] = useState<'rest' | 'saving' | TocsinError>('rest');
  const id = useId();
  /** Whether what is shown next takes the focus: whoever uses the keyboard goes on where they were. */
  const takesFocus = useRef(false);
  const focus = (node: HTMLElement | null) => {
    if (node === null || !takesFocus.current) return;
    takesFocus.current = false;
    // Whoever has gone on to another field meanwhile stays there.
    if (!isOnPage(document.activeElement)) node.focus();
  };
  const close = () => {
    takesFocus.current = true;
    setDraft(undefined);
    setState('rest');
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (draft === undefined || state === 'saving') return;
    const { value: mine, base } = draft;
    if (equal(mine, base) || equal(mine, value)) {
      close();
      return;
    }
    setState('saving');
    try {
      const changes = { [name]: toApi(mine) };
      const isSettled = await save({ changes, base: { [name]: toApi(base) }, revision: draft.revision });
      if (isSettled) close();
      else setState('rest');
    } catch (error) {
      setState(failureAt(name, failureOf(error)));
    }
  };
  if (draft !== undefined && canEdit) {
    const change = (next: Value) => setDraft({ ...draft, value: next });
    return (
      <form
        className={css.form}
        onSubmit={(event) => void submit(event)}
        onKeyDown={(event) => {
          const { key, target, currentTarget } = event;
          if (isComposing(event.nativeEvent)) return;
          if (isSending(event)) currentTarget.requestSubmit();
          else if (key === 'Enter' && target instanceof HTMLSelectElement) {
            // Browsers send a form by Enter from every field but this one. The next keys are those of the page.
            event.preventDefault();
            target.blur();
            currentTarget.requestSubmit();
          }
          if (key !== 'Escape') return;
          // A long text is only left: it takes more than one key to throw it away.
          if (target instanceof HTMLTextAreaElement && !equal(draft.value, draft.base)) target.blur();
          else close();
        }}
      >
        <Refusable error={state instanceof TocsinError ? state : null}>
          <div ref={(node) => focus(node?.querySelector('input, select, textarea') ?? null)}>
            {editor(draft.value, change, { name, label, stored: value })}
          </div>
        </Refusable>
        {!equal(value, draft.base) && <p className={ui.hint}>Somebody changed it while you write.</p>}
        <div className={ui.row}>
          <Button type="submit" kind="primary" small busy={state === 'saving'}>
            Save
          </Button>
          <Button kind="quiet" small onClick={close}>
            Cancel
          </Button>
        </div>
      </form>
    );
  }
  if (!canEdit) {
    const isUnknown = notRecorded?.includes(name) === true;
    return <div className={css.value}>{isUnknown ? <span className={ui.muted}>Not recorded</span> : children}</div>;
  }
  return (
    <button
      ref={focus}
      type="button"
      className={css.value}
      data-edit={name}
      aria-labelledby={`${id}-edit ${id}-value`}
      onClick={() => {
        takesFocus.current = true;
        setDraft({ value, base: value, revision });
      }}
    >
      <span id={`${id}-edit`} className={ui.hidden}>{`Edit ${label}:`}</span>
      <span id={`${id}-value`}>{children}</span>
    </button>
  );
}

export const textEditor =
  (more: { max?: number; type?: string; list?: string } = {}): Editor<string> =>
  (value, set, { name, label }) => (
    <Input
      bare
      name={name}
      label={label}
      type={more.type ?? 'text'}
      list={more.list}
      maxLength={more.max}
      value={value}
      onValue={set}
    />
  );

export const areaEditor: Editor<string> = (value, set, { name, label }) => (
  <TextArea bare name={name} label={label} rows={4} value={value} onValue={set} />
);

export const choiceEditor =
  (options: Options, nameOf: NameOf = String): Editor<string> =>
  (value, set, { name, label, stored }) => (
    <Select
      bare
      name={name}
      label={label}
      options={withStored(options, [stored], nameOf)}
      value={value}
      onValue={set}
    />
  );

export const momentEditor: Editor<string | null> = (value, set, { name, label }) => (
  <Input
    bare
    name={name}
    label={label}
    type="datetime-local"
    defaultValue={toLocalInput(value)}
    onValue={(text) => set(fromLocalInput(text))}
  />
);

/** Texts with commas between them. */
export const listEditor: Editor<string[]> = (value, set, { name, label }) => (
  <Input
    bare
    name={name}
    label={label}
    defaultValue={value.join(', ')}
    onValue={(text) => set(splitTexts(text, ','))}
  />
);

export const severalEditor =
  (options: Options, nameOf: NameOf = String): Editor<string[]> =>
  (value, set, { name, label, stored }) => (
    <Checks
      bare
      name={name}
      label={label}
      className={css.several}
      options={withStored(options, stored, nameOf)}
      value={value}
      onValue={set}
    />
  );

const NONE = ['', 'None'] as const;

/** The editor of a custom field. The value `undefined` is none. */
export function fieldEditor(field: CustomField): Editor<unknown> {
  const options = optionsOf(field);
  const plain = (type: string, parse: (text: string) => unknown, show: (value: unknown) => string): Editor<unknown> =>
    function PlainEditor(value, set, { name, label }) {
      return (
        <Input
          bare
          name={name}
          label={label}
          type={type}
          step={type === 'number' ? 'any' : undefined}
          defaultValue={value === undefined || value === null ? '' : show(value)}
          onValue={(text) => set(text === '' ? undefined : parse(text))}
        />
      );
    };
  const choice = (entries: Options, parse: (text: string) => unknown): Editor<unknown> =>
    function ChoiceEditor(value, set, { stored, ...named }) {
      const show = (one: unknown) => (one === undefined ? '' : toText(one));
      const choose = (next: string) => set(next === '' ? undefined : parse(next));
      return choiceEditor([NONE, ...entries])(show(value), choose, { ...named, stored: show(stored) });
    };
  switch (field.field_type) {
    case 'number':
      return plain('number', Number, String);
    case 'date':
    case 'time':
      return plain(field.field_type, String, String);
    case 'datetime':
      return plain('datetime-local', fromLocalInput, (value) => toLocalInput(String(value)));
    case 'boolean':
      return choice(YES_OR_NO, (text) => text === 'true');
    case 'select':
      return choice(options, String);
    case 'multi_select':
      return (value, set, { stored, ...named }) => {
        const listOf = (several: unknown) => (several as string[] | undefined) ?? [];
        return severalEditor(options)(listOf(value), set, { ...named, stored: listOf(stored) });
      };
    case 'monetary':
      return plain(
        'text',
        (text) => {
          const [amount = '', currency = field.config?.currency ?? field.config?.currencies?.[0] ?? ''] = text
            .trim()
            .split(/\s+/);
          return { amount: Number(amount), currency };
        },
        (value) => `${(value as { amount: number }).amount} ${(value as { currency: string }).currency}`,
      );
    case 'json':
      return plain('text', parseOr, JSON.stringify);
    default:
      return plain('text', String, String);
  }
}

/** A text that is no JSON yet is sent as a text. */
function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A property with its name, and what comes after its value. */
export const Term = <Value,>({
  term,
  label = term,
  after,
  ...editable
}: Omit<EditableProps<Value>, 'label'> & { term: string; label?: string; after?: ReactNode }) => (
  <div className={css.term}>
    <dt>{term}</dt>
    <dd>
      <Editable label={label} {...editable} />
      {after}
    </dd>
  </div>
);
