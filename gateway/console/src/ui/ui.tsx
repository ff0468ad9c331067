import {
  type ButtonHTMLAttributes,
  type CSSProperties,
  type ComponentProps,
  createContext,
  type SubmitEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { ApiError } from '../api/client.ts';
import { useConfiguration, useServices } from '../api/hooks.ts';
import { formatAgo, formatTime, useNow } from './format.ts';
import { Icon, type IconName } from './icon.tsx';
import css from './ui.module.css';

type ButtonKind = 'normal' | 'primary' | 'quiet' | 'danger';

export const classes = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ');

export const buttonClass = (kind: ButtonKind = 'normal', small = false): string =>
  classes(css.button, kind !== 'normal' && css[kind], small && css.small);

export function Button({
  kind = 'normal',
  small = false,
  busy = false,
  icon,
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: ButtonKind;
  small?: boolean;
  busy?: boolean;
  icon?: IconName;
}) {
  return (
    <button type="button" {...rest} disabled={rest.disabled === true || busy} className={buttonClass(kind, small)}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** The field that the server refused, for the fields of a form. */
const Refused = createContext<ApiError | null>(null);

interface FieldProps<Value extends string = string> {
  label: string;
  onValue?: (value: Value) => void;
  /** As the API names it. */
  name?: string;
  hint?: string;
  /** Shows no label; it stays for readers of the screen. */
  bare?: boolean;
}

function useFieldProps({ label, name, hint, bare }: FieldProps) {
  const id = useId();
  const error = useContext(Refused);
  const isRefused = name !== undefined && error?.field?.split('.')[0] === name;
  const fault = isRefused ? error.message : undefined;
  const about = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return {
    props: { id, className: css.input, 'aria-invalid': isRefused, 'aria-describedby': about || undefined },
    wrap: (control: ReactNode) => (
      <div className={css.field}>
        <label htmlFor={id} className={bare === true ? css.hidden : css.label}>
          {label}
        </label>
        {control}
        {hint && (
          <span id={`${id}-hint`} className={css.hint}>
            {hint}
          </span>
        )}
        {fault && (
          <span id={`${id}-fault`} className={css.fault}>
            {fault}
          </span>
        )}
      </div>
    ),
  };
}

export function Input({ label, name, hint, bare, onValue, ...rest }: ComponentProps<'input'> & FieldProps) {
  const { props, wrap } = useFieldProps({ label, name, hint, bare });
  return wrap(<input autoComplete="off" {...props} onChange={({ target }) => onValue?.(target.value)} {...rest} />);
}

export function TextArea({ label, name, hint, bare, onValue, ...rest }: ComponentProps<'textarea'> & FieldProps) {
  const { props, wrap } = useFieldProps({ label, name, hint, bare });
  return wrap(<textarea rows={3} {...props} onChange={({ target }) => onValue?.(target.value)} {...rest} />);
}

/** Values with their names for people. */
export type Options<Value extends string = string> = readonly (readonly [value: Value, label: string])[];

/** Rows of the API as options. */
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
  const { props, wrap } = useFieldProps({ label, name, hint, bare });
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

export const Check = ({
  label,
  value,
  onValue,
  disabled,
}: {
  label: ReactNode;
  value: boolean;
  onValue: (value: boolean) => void;
  disabled?: boolean;
}) => (
  <label className={css.check}>
    <input type="checkbox" checked={value} disabled={disabled} onChange={({ target }) => onValue(target.checked)} />
    {label}
  </label>
);

/** Which of a few values are chosen. */
export const Checks = ({
  options,
  value,
  onValue,
}: {
  options: readonly (readonly [value: string, label: ReactNode])[];
  value: readonly string[];
  onValue: (value: string[]) => void;
}) =>
  options.map(([key, label]) => (
    <Check
      key={key}
      label={label}
      value={value.includes(key)}
      onValue={(isChosen) => onValue(isChosen ? [...value, key] : value.filter((each) => each !== key))}
    />
  ));

/** Why something failed; screen readers say it at once. */
export const Fault = ({ children }: { children: ReactNode }) =>
  children && (
    <p role="alert" className={css.fault}>
      {children}
    </p>
  );

interface FormProps {
  error: ApiError | null;
  /** What the button says that submits. */
  label: string;
  busy?: boolean;
  disabled?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** The form of a dialogue. A refusal is shown at the field that it names, or else above the buttons. */
function Form({ error, label, onSubmit, onClose, children, ...state }: FormProps) {
  return (
    <Refused.Provider value={error}>
      <form
        className={css.form}
        noValidate
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        <Fault>{error && (error.field === undefined ? error.message : `${error.field}: ${error.message}`)}</Fault>
        <div className={css.actions}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" {...state}>
            {label}
          </Button>
        </div>
      </form>
    </Refused.Provider>
  );
}

/** The browser's own modal dialog: it keeps the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    ref.current?.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  return (
    <dialog ref={ref} className={css.dialog} aria-labelledby={heading} onClose={onClose}>
      <div className={css.dialogHead}>
        <h2 id={heading}>{title}</h2>
        <Button kind="quiet" small icon="close" aria-label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

export const FormDialog = ({ title, ...form }: FormProps & { title: string }) => (
  <Dialog title={title} onClose={form.onClose}>
    <Form {...form} />
  </Dialog>
);

export const SEVERITY_COLOURS = 4;

/** The place of a severity among those of the workspace; the last colour is for all that are less severe. */
export function useSeverityRank(): (key: string) => number {
  const { severities } = useConfiguration();
  return (key) => {
    const index = severities.findIndex((severity) => severity.key === key);
    return index === -1 ? SEVERITY_COLOURS - 1 : Math.min(index, SEVERITY_COLOURS - 1);
  };
}

export function SeverityBadge({ value }: { value: string }) {
  const { severities } = useConfiguration();
  const rank = useSeverityRank()(value);
  const label = severities.find(({ key }) => key === value)?.label ?? value;
  const style = { '--sev': `var(--sev-${rank})`, '--sev-text': `var(--sev-${rank}-text)` } as CSSProperties;
  return (
    <span className={classes(css.badge, css.sev)} style={style}>
      {label}
    </span>
  );
}

export function StatusText({ value }: { value: string }) {
  const { statuses } = useConfiguration();
  const status = statuses.find(({ key }) => key === value);
  return (
    <span className={classes(css.status, status?.is_terminal === true && css.muted)}>
      <span className={status?.is_terminal === true ? css.open : css.dot} aria-hidden="true" />
      {status?.label ?? value}
    </span>
  );
}

/** The services that an input with this list suggests. */
export const ServiceNames = ({ id }: { id: string }) => (
  <datalist id={id}>
    {useServices().data?.map(({ slug, name }) => (
      <option key={slug} value={slug}>
        {name}
      </option>
    ))}
  </datalist>
);

export const Badge = ({
  tone = 'plain',
  children,
}: {
  tone?: 'good' | 'warn' | 'bad' | 'plain';
  children: ReactNode;
}) => <span className={classes(css.badge, css[tone])}>{children}</span>;

/** How long ago a time was; the exact time is its title. */
export function Ago({ time, none = 'never' }: { time: string | null | undefined; none?: string }) {
  const now = useNow();
  if (time === null || time === undefined) return <span className={css.muted}>{none}</span>;
  return (
    <time dateTime={time} title={formatTime(time)}>
      {formatAgo(time, now)}
    </time>
  );
}

export const Page = ({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: string;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  useEffect(() => void (document.title = `${title} · Tocsin`), [title]);
  return (
    <div className={css.page}>
      <header className={css.pageHead}>
        <div>
          <h1>{title}</h1>
          {lead && <p className={css.lead}>{lead}</p>}
        </div>
        {actions && <div className={css.row}>{actions}</div>}
      </header>
      {children}
    </div>
  );
};

export const Card = ({
  title,
  actions,
  children,
  padded = false,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  padded?: boolean;
}) => (
  <section className={css.card} aria-label={title}>
    {title && (
      <div className={css.cardHead}>
        <h2>{title}</h2>
        {actions && <div className={css.row}>{actions}</div>}
      </div>
    )}
    {padded ? <div className={css.cardBody}>{children}</div> : children}
  </section>
);

/** @param props `heading` is `h1` where the page has no other one */
export const Empty = ({
  title,
  children,
  action,
  icon = 'calm',
  heading: Heading = 'h2',
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  icon?: IconName;
  heading?: 'h1' | 'h2';
}) => (
  <div className={css.state}>
    <span className={css.muted}>
      <Icon name={icon} size={28} />
    </span>
    <Heading>{title}</Heading>
    {children && <p>{children}</p>}
    {action}
  </div>
);

export const Loading = ({ rows = 5 }: { rows?: number }) => (
  <div className={css.skeleton} role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} />
    ))}
  </div>
);

/** A page that only some people see. */
export const NoPermission = ({ title, what }: { title: string; what: string }) => (
  <Page title={title}>
    <Card>
      <Empty title="You cannot see this page" icon="lock">
        {`Only owners and admins of the workspace ${what}. Ask one of them.`}
      </Empty>
    </Card>
  </Page>
);

/** What a query shows: its data, or why there are none. Data that were read before stay while others are read. */
export function Loaded<Data>({
  query,
  rows,
  heading,
  children,
}: {
  query: { data: Data | undefined; error: ApiError | null; refetch: () => unknown };
  rows?: number;
  heading?: 'h1' | 'h2';
  children: (data: Data) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  if (error === null) return <Loading rows={rows} />;
  const isOffline = error.status === 0;
  const title = isOffline
    ? 'You are offline'
    : error.status === 404
      ? 'There is nothing here'
      : 'This could not be read';
  return (
    <Empty
      title={title}
      heading={heading}
      icon={isOffline ? 'offline' : 'alert'}
      action={<Button onClick={() => void refetch()}>Try again</Button>}
    >
      {error.message}
      {error.requestId && ` Request ${error.requestId}.`}
    </Empty>
  );
}

/** The pages of a list in one, with the button for the next one. */
export const More = ({
  list,
}: {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) =>
  list.hasNextPage && (
    <div className={css.more}>
      <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {list.isFetchingNextPage ? 'Loading' : 'Show more'}
      </Button>
    </div>
  );

/** A secret that is shown once. */
export function SecretDialog({
  title,
  label,
  value,
  onClose,
  children,
}: {
  title: string;
  label: string;
  value: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const [copied, setCopied] = useState(false);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={css.form}>
        <p>{children}</p>
        <div className={css.field}>
          <span className={css.label}>{label}</span>
          <code className={css.secret}>{value}</code>
          <div>
            <Button
              small
              icon={copied ? 'check' : 'copy'}
              onClick={() => void navigator.clipboard.writeText(value).then(() => setCopied(true))}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          </div>
        </div>
        <div className={css.actions}>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Asks before something that cannot be undone. */
export const Confirm = ({ children, ...form }: ComponentProps<typeof FormDialog>) => (
  <FormDialog {...form}>
    <p>{children}</p>
  </FormDialog>
);

export { css };
