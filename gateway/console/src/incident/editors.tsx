import type { CustomField } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { fromLocalInput, splitTexts, toLocalInput, toText } from '../ui/format.ts';
import { Checks, Input, type NameOf, type Options, Select, TextArea, withStored } from '../ui/fields.tsx';
import ui from '../ui/ui.module.css';
import { optionsOf, YES_OR_NO } from '../incidents/incident-filters.ts';

/** An input for a value; `set` takes what is to be saved, `stored` is what is saved now, and refusals name `name`. */
export type Editor<Value> = (
  value: Value,
  set: (value: Value) => void,
  { name, label, stored }: { name: string; label: string; stored: Value },
) => ReactNode;

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
      className={ui.choices}
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
