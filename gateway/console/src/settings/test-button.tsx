import { type ComponentProps, useState } from 'react';
import { useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { DoneDialog } from '../ui/dialogs.tsx';
import { Fault } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

interface TestProps<Reply> extends Pick<ComponentProps<typeof Button>, 'kind' | 'small' | 'icon'> {
  /** Of the receiver. */
  name: string;
  path: string;
  labels: readonly [first: string, again: string];
  outcomeOf: (reply: Reply) => { isAccepted: boolean; text: string; answer: string | null };
  hint?: string;
}

/** Sends a test to a receiver, and shows its outcome. */
export function TestButton<Reply>({ name, path, labels, outcomeOf, hint, ...look }: TestProps<Reply>) {
  const test = useWrite<Reply>();
  const [isOpen, setOpen] = useState(false);
  const [first, again] = test.isPending ? ['Sending', 'Sending'] : labels;
  const send = { busy: test.isPending, onClick: () => test.mutate({ path }, { onSettled: () => setOpen(true) }) };
  const outcome = test.data && outcomeOf(test.data);
  return (
    <>
      <Button {...look} {...send}>
        {first}
      </Button>
      {isOpen && (
        <DoneDialog
          title={`Test of ${name}`}
          actions={<Button {...send}>{again}</Button>}
          onClose={() => setOpen(false)}
        >
          {test.isPending && <p role="status">Tocsin sends a test.</p>}
          {test.isError && <Fault>{test.error.message}</Fault>}
          {outcome && (outcome.isAccepted ? <p role="status">{outcome.text}</p> : <Fault>{outcome.text}</Fault>)}
          {outcome?.answer && (
            <div className={ui.field}>
              <span className={ui.label}>What the receiver answered</span>
              <code className={ui.code}>{outcome.answer}</code>
            </div>
          )}
          {outcome && hint && <p className={ui.hint}>{hint}</p>}
        </DoneDialog>
      )}
    </>
  );
}
