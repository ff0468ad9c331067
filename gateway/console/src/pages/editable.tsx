import type { CustomField } from '@tocsin/sdk';
import { type SubmitEvent, type ReactNode, useId, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { fromLocalInput, splitTexts, toLocalInput, toText } from '../ui/format.ts';
import { Button, Checks, css as ui, Fault, Input, type Options, Select, TextArea } from '../ui/ui.tsx';
import css from './editable.module.css';
import { optionsOf, YES_OR_NO } from './incident-filters.ts';

/** An input for a value; `set` takes what is to be saved. */
export type Editor<Value> = (value: Value, set: (value: Value) => void, label: string) => ReactNode;

interface EditableProps<Value> {
  label: string;
  value: Value;
  editor: Editor<Value>;
  canEdit: boolean;
  onSave: (value: Value) => Promise<void>;
  children: ReactNode;
}

/** A value that becomes a form where it stands. Escape leaves it as it was. */
export function Editable<Value>({ label, value, editor, canEdit, onSave, children }: EditableProps<Value>) {
  // Saves on what was shown when the edit began, whatever arrives meanwhile.
  const [draft, setDraft] = useState<{ value: Value; save: (value: Value) => Promise<void> }>();
  const [state, setState] = useState<'rest' | 'saving' | ApiError>('rest');
  const id = useId();
  const close = () => {
    setDraft(undefined);
    setState('rest');
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (draft === undefined || state === 'saving') return;
    setState('saving');
    try {
      if (JSON.stringify(draft.value) !== JSON.stringify(value)) await draft.save(draft.value);
      close();
    } catch (error) {
      setState(error instanceof ApiError ? error : new ApiError(0, { message: 'The console failed' }));
    }
  };
  if (draft !== undefined) {
    return (
      <form
        className={css.form}
        onSubmit={(event) => void submit(event)}
        onKeyDown={({ key }) => key === 'Escape' && close()}
      >
        <div ref={focusFirst}>{editor(draft.value, (next) => setDraft({ ...draft, value: next }), label)}</div>
        <Fault>{state instanceof ApiError && state.message}</Fault>
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
  if (!canEdit) return <div className={css.value}>{children}</div>;
  return (
    <button
      type="button"
      className={css.value}
      aria-labelledby={`${id}-edit ${id}-value`}
      onClick={() => setDraft({ value, save: onSave })}
    >
      <span id={`${id}-edit`} className={ui.hidden}>{`Edit ${label}:`}</span>
      <span id={`${id}-value`}>{children}</span>
    </button>
  );
}

function focusFirst(node: HTMLElement | null): void {
  node?.querySelector<HTMLElement>('input, select, textarea')?.focus();
}

export const textEditor =
  (more: { max?: number; type?: string; list?: string } = {}): Editor<string> =>
  (value, set, label) => (
    <Input
      bare
      label={label}
      type={more.type ?? 'text'}
      list={more.list}
      maxLength={more.max}
      value={value}
      onValue={set}
    />
  );

export const areaEditor: Editor<string> = (value, set, label) => (
  <TextArea bare label={label} rows={4} value={value} onValue={set} />
);

export const choiceEditor =
  (options: Options): Editor<string> =>
  (value, set, label) => <Select bare label={label} options={options} value={value} onValue={set} />;

export const momentEditor: Editor<string | null> = (value, set, label) => (
  <Input
    bare
    label={label}
    type="datetime-local"
    defaultValue={toLocalInput(value)}
    onValue={(text) => set(fromLocalInput(text))}
  />
);

/** Texts with commas between them. */
export const listEditor: Editor<string[]> = (value, set, label) => (
  <Input bare label={label} defaultValue={value.join(', ')} onValue={(text) => set(splitTexts(text, ','))} />
);

export const severalEditor =
  (options: Options): Editor<string[]> =>
  (value, set, label) => (
    <fieldset className={css.several}>
      <legend className={ui.hidden}>{label}</legend>
      <Checks options={options} value={value} onValue={set} />
    </fieldset>
  );

const NONE = ['', 'None'] as const;

/** The editor of a custom field. The value `undefined` is none. */
export function fieldEditor(field: CustomField): Editor<unknown> {
  const options = optionsOf(field);
  const plain = (type: string, parse: (text: string) => unknown, show: (value: unknown) => string): Editor<unknown> =>
    function PlainEditor(value, set, label) {
      return (
        <Input
          bare
          label={label}
          type={type}
          step={type === 'number' ? 'any' : undefined}
          defaultValue={value === undefined || value === null ? '' : show(value)}
          onValue={(text) => set(text === '' ? undefined : parse(text))}
        />
      );
    };
  const choice = (entries: Options, parse: (text: string) => unknown): Editor<unknown> =>
    function ChoiceEditor(value, set, label) {
      const shown = value === undefined ? '' : toText(value);
      return choiceEditor([NONE, ...entries])(shown, (next) => set(next === '' ? undefined : parse(next)), label);
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
      return (value, set, label) => severalEditor(options)((value as string[] | undefined) ?? [], set, label);
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
  name,
  label = name,
  after,
  ...editable
}: Omit<EditableProps<Value>, 'label'> & { name: string; label?: string; after?: ReactNode }) => (
  <div className={css.term}>
    <dt>{name}</dt>
    <dd>
      <Editable label={label} {...editable} />
      {after}
    </dd>
  </div>
);
