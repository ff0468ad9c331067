import { type ComponentProps, type ReactNode, type SubmitEvent, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import type { Failure } from './failure.ts';
import { Refusable } from './fields.tsx';
import css from './ui.module.css';
import { isSending } from './use-keys.ts';

interface FormProps {
  error: Failure | null;
  /** What the button says that submits. */
  label: string;
  busy?: boolean;
  disabled?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  /** Closes, and forgets what was written. */
  onCancel?: () => void;
  children: ReactNode;
}

function Form({ error, label, onSubmit, onClose, onCancel = onClose, children, ...state }: FormProps) {
  return (
    <form
      className={css.form}
      noValidate
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Refusable error={error}>{children}</Refusable>
      <div className={css.actions}>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" {...state}>
          {label}
        </Button>
      </div>
    </form>
  );
}

/** The browser's own modal dialog: it keeps the focus, Escape closes it, and Ctrl+Enter presses its primary button. */
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
    <dialog
      ref={ref}
      className={css.dialog}
      aria-labelledby={heading}
      onClose={onClose}
      onKeyDown={(event) => {
        if (!isSending(event)) return;
        event.preventDefault();
        // A dialogue may stand in another one.
        event.stopPropagation();
        event.currentTarget.querySelector<HTMLElement>(`.${css.primary}`)?.click();
      }}
    >
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

/** A dialogue that submits nothing. */
export const DoneDialog = ({
  title,
  label = 'Done',
  actions,
  onClose,
  children,
}: {
  title: string;
  label?: string;
  /** Buttons before the one that closes it. */
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) => (
  <Dialog title={title} onClose={onClose}>
    <div className={css.form}>
      {children}
      <div className={css.actions}>
        {actions}
        <Button kind="primary" onClick={onClose}>
          {label}
        </Button>
      </div>
    </div>
  </Dialog>
);

/** Copies a text to the clipboard. */
export function Copy({ value }: { value: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div>
      <Button
        small
        icon={copied ? 'check' : 'copy'}
        onClick={() => void navigator.clipboard.writeText(value).then(() => setCopied(true))}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}

/** A secret that is shown once. */
export const SecretDialog = ({
  label,
  value,
  children,
  ...dialog
}: Pick<ComponentProps<typeof DoneDialog>, 'title' | 'onClose' | 'children'> & { label: string; value: string }) => (
  <DoneDialog {...dialog}>
    <p>{children}</p>
    <div className={css.field}>
      <span className={css.label}>{label}</span>
      <code className={css.secret}>{value}</code>
      <Copy value={value} />
    </div>
  </DoneDialog>
);

/** Asks before something that cannot be undone. */
export const Confirm = ({ children, ...form }: ComponentProps<typeof FormDialog>) => (
  <FormDialog {...form}>
    <p>{children}</p>
  </FormDialog>
);
