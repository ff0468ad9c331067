import {
  type ComponentProps,
  type ReactNode,
  createContext,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Failure } from './failure.ts';
import { formatName } from './format.ts';
import { Fault } from './texts.tsx';
import css from './ui.module.css';

/** The field that the server refused, for the fields of a form. */
const Refused = createContext<Failure | null>(null);

const REFUSED = '[data-refused]';

/**
 * What a form asks for, and why the server refused it: at the field that the error names, or else below all of them, until
 * that is mended.
 */
export function Refusable({
  error,
  children,
  foot = (fault) => fault,
}: {
  error: Failure | null;
  children: ReactNode;
  /** What stands below, with the reason that belongs to no field. */
  foot?: (fault: ReactNode) => ReactNode;
}) {
  const fields = useRef<HTMLDivElement>(null);
  const [mended, setMended] = useState<Failure | null>(null);
  const [isAtField, setAtField] = useState(false);
  const refused = error === mended ? null : error;
  useLayoutEffect(() => {
    const field = fields.current?.querySelector(REFUSED) ?? undefined;
    setAtField(field !== undefined);
    field?.closest('details')?.setAttribute('open', '');
    field?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, [refused]);
  return (
    <Refused.Provider value={refused}>
      <div
        ref={fields}
        className={css.fields}
        onInput={({ target }) => (!isAtField || (target as Element).closest(REFUSED)) && setMended(error)}
      >
        {children}
      </div>
      {foot(
        !isAtField && (
          <Fault>
            {refused && (refused.field ? `${formatName(refused.field)}: ${refused.message}` : refused.message)}
          </Fault>
        ),
      )}
    </Refused.Provider>
  );
}

interface FieldProps<Value extends string = string> {
  label: string;
  onValue?: (value: Value) => void;
  /** As the API names it, with the path below which it has all. */
  name?: string | undefined;
  hint?: string;
  /** Shows no label; it stays for readers of the screen. */
  bare?: boolean;
}

function useFieldProps({ name, hint }: { name?: string | undefined; hint?: string | undefined }) {
  const id = useId();
  const error = useContext(Refused);
  const isRefused = name !== undefined && error?.field !== undefined && `${error.field}.`.startsWith(`${name}.`);
  const about = [hint && `${id}-hint`, isRefused && `${id}-fault`].filter(Boolean).join(' ');
  return {
    props: { id, 'aria-invalid': isRefused, 'aria-describedby': about || undefined },
    /** Attributes of the box of the field. */
    box: { className: css.field, 'data-refused': isRefused || undefined },
    below: (
      <>
        {hint && (
          <span id={`${id}-hint`} className={css.hint}>
            {hint}
          </span>
        )}
        {isRefused && (
          <span id={`${id}-fault`} className={css.fault}>
            {error.message}
          </span>
        )}
      </>
    ),
  };
}

/** A control with its label, its hint, and why it was refused. */
function useControl({ label, name, hint, bare }: FieldProps) {
  const { props, box, below } = useFieldProps({ name, hint });
  return {
    props: { ...props, className: css.input },
    wrap: (control: ReactNode) => (
      <div {...box}>
        <label htmlFor={props.id} className={bare === true ? css.hidden : css.label}>
          {label}
        </label>
        {control}
        {below}
      </div>
    ),
  };
}

export function Input({ label, name, hint, bare, onValue, ...attributes }: ComponentProps<'input'> & FieldProps) {
  const { props, wrap } = useControl({ label, name, hint, bare });
  return wrap(
    <input autoComplete="off" {...props} onChange={({ target }) => onValue?.(target.value)} {...attributes} />,
  );
}

export function TextArea({ label, name, hint, bare, onValue, ...attributes }: ComponentProps<'textarea'> & FieldProps) {
  const { props, wrap } = useControl({ label, name, hint, bare });
  return wrap(<textarea rows={3} {...props} onChange={({ target }) => onValue?.(target.value)} {...attributes} />);
}

/** Values with their names for people. */
export type Options<Value extends string = string> = readonly (readonly [value: Value, label: string])[];

/** Names a value that is stored and not among the options, which depend on the present: who has left, what is archived. */
export type NameOf = (value: string) => string;

/** The options, and what is stored besides them, so that it can be seen and taken out. */
export const withStored = (options: Options, stored: readonly string[], nameOf: NameOf): Options => [
  ...options,
  ...stored
    .filter((value) => !options.some(([key]) => key === value))
    .map((value) => [value, `${nameOf(value)} (no longer available)`] as const),
];

/** Rows as options. */
export const choices = <Name extends string>(
  rows: readonly Readonly<Record<Name, string | number>>[],
  key: Name,
  label: Name,
): Options => rows.map((row) => [String(row[key]), String(row[label])]);

export function Select<Value extends string>({
  label,
  name,
  hint,
  bare,
  options,
  value: chosen,
  onValue,
}: FieldProps<Value> & { options: Options<Value>; value: Value }) {
  const { props, wrap } = useControl({ label, name, hint, bare });
  const isUnknown = options.every(([value]) => value !== chosen);
  return wrap(
    <select {...props} value={chosen} onChange={({ target }) => onValue?.(target.value as Value)}>
      {isUnknown && <option value={chosen}>{chosen}</option>}
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>,
  );
}

export function Check({
  label,
  name,
  hint,
  value,
  onValue,
  disabled,
}: {
  label: ReactNode;
  name?: string;
  hint?: string;
  value: boolean;
  onValue: (value: boolean) => void;
  disabled?: boolean;
}) {
  const { props, box, below } = useFieldProps({ name, hint });
  return (
    <div {...box}>
      <label className={css.check}>
        <input
          type="checkbox"
          {...props}
          checked={value}
          disabled={disabled}
          onChange={({ target }) => onValue(target.checked)}
        />
        {label}
      </label>
      {below}
    </div>
  );
}

/** Which of a few values are chosen. */
export function Checks({
  label,
  name,
  bare,
  className,
  options,
  value,
  onValue,
}: Omit<FieldProps, 'onValue'> & {
  className?: string | undefined;
  options: readonly (readonly [value: string, label: ReactNode])[];
  value: readonly string[];
  onValue: (value: string[]) => void;
}) {
  const { props, box, below } = useFieldProps({ name });
  return (
    <fieldset {...box} className={className} aria-describedby={props['aria-describedby']}>
      <legend className={bare === true ? css.hidden : css.label}>{label}</legend>
      {options.map(([key, text]) => (
        <Check
          key={key}
          label={text}
          value={value.includes(key)}
          onValue={(isChosen) => onValue(isChosen ? [...value, key] : value.filter((each) => each !== key))}
        />
      ))}
      {below}
    </fieldset>
  );
}
