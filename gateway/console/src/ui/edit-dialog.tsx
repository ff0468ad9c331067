import { type ReactNode, useState } from 'react';
import type { Write } from '../api/client.ts';
import { refresh, useWrite } from '../api/hooks.ts';
import { Button, Dialog, Form } from './ui.tsx';

/**
 * A dialogue that creates or changes one resource.
 * @param request is made of the draft; its path is refreshed afterwards
 */
export function EditDialog<Draft, Reply>({
  title,
  initial,
  request,
  label = 'Save',
  onDone,
  onClose,
  children,
}: {
  title: string;
  initial: Draft;
  request: (draft: Draft) => Write;
  label?: string;
  onDone?: (reply: Reply) => void;
  onClose: () => void;
  children: (draft: Draft, set: (change: Partial<Draft>) => void) => ReactNode;
}) {
  const [draft, setDraft] = useState(initial);
  const write = useWrite<Reply>();
  const submit = () => {
    if (write.isPending) return;
    const sent = request(draft);
    write.mutate(sent, {
      onSuccess: (reply) => {
        void refresh(sent.path.replace(/\/\d+$/, ''));
        onClose();
        onDone?.(reply);
      },
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        error={write.error}
        onSubmit={submit}
        actions={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary" busy={write.isPending}>
              {label}
            </Button>
          </>
        }
      >
        {write.error?.status === 412 && <p>Somebody changed it meanwhile. Close this, and look at their version.</p>}
        {children(draft, (change) => setDraft({ ...draft, ...change }))}
      </Form>
    </Dialog>
  );
}
