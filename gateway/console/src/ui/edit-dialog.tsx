import { type ReactNode, useState } from 'react';
import type { Write } from '../api/client.ts';
import { listOf, refresh, useWrite } from '../api/hooks.ts';
import { FormDialog } from './ui.tsx';

/** The request that creates a resource in a list, or changes one on the revision that is shown. */
export const saveTo = (path: string, row: { id: number; revision: number } | undefined): Write =>
  row === undefined ? { path } : { method: 'PATCH', path: `${path}/${row.id}`, revision: row.revision };

/** Binds a control to a property of the draft. */
type Bind<Draft> = <Name extends keyof Draft & string>(
  name: Name,
) => { name: Name; value: Draft[Name]; onValue: (value: Draft[Name]) => void };

/**
 * A dialogue that creates or changes one resource.
 * @param request is made of the draft; its list is refreshed afterwards
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
  children: (bind: Bind<Draft>, draft: Draft) => ReactNode;
}) {
  const [draft, setDraft] = useState(initial);
  const write = useWrite<Reply>();
  const submit = () => {
    if (write.isPending) return;
    const sent = request(draft);
    write.mutate(sent, {
      onSuccess: (reply) => {
        void refresh(listOf(sent.path));
        onClose();
        onDone?.(reply);
      },
    });
  };
  const bind: Bind<Draft> = (name) => ({
    name,
    value: draft[name],
    onValue: (value) => setDraft({ ...draft, [name]: value }),
  });
  return (
    <FormDialog
      title={title}
      error={write.error}
      label={label}
      busy={write.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {write.error?.status === 412 && <p>Somebody changed it meanwhile. Close this, and look at their version.</p>}
      {children(bind, draft)}
    </FormDialog>
  );
}
